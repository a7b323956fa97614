// A virsh that is a shell script: it has the domains that a test puts into a directory, says what it was told to change, and has
// neither volumes nor guests. For what is done with a stack as a whole, where no machine has to run. Its own words are English, as
// with LC_ALL=C, and those of its daemon German: whoever reads them is found out.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MachineRecord } from '../../src/targets/libvirt/machine-record.ts'
import { recordElement } from '../../src/targets/libvirt/record-xml.ts'

const SCRIPT = `#!/bin/bash
cd "$(dirname "$0")/.."
host="hosts/$(printf %s "$3" | tr -c 'a-z0-9\\n' _)"
[ -d "$host" ] && printf . >> "$host/processes"
[ -e "$host/silent" ] && { printf 'error: failed to connect to the hypervisor\\nerror: no answer\\n' >&2; exit 1; }
[ -e "$host/endless" ] && exec sleep 1000
echo() { if [ "$1" = --err ]; then printf 'error: %s\\n' "$2" >&2; else printf '%s\\n' "$1"; fi; }
list() {
  case "$*" in *--state-running*) return ;; esac
  for file in "$host"/*.xml; do [ -e "$file" ] && basename "$file" .xml; done
}
dumpxml() { for last; do :; done; cat "$host/$last.xml"; }
domstate() { printf 'shut off\\n'; }
domid() { printf -- '-\\n'; }
autostart() { printf 'autostart %s\\n' "$*" >> "$host/changes"; }
metadata() { printf 'metadata\\n' >> "$host/changes"; }
undefine() { rm "$host/$2.xml" && printf 'undefine %s\\n' "$2" >> "$host/changes"; }
fail() { for line; do printf 'error: %s\\n' "$line" >&2; done; }
no_volume() {
  fail "failed to get vol '$1'" "Speicher-Datenträger nicht gefunden: Kein Speicher-Datenträger mit passendem Pfad '$1'"
}
no_pool() {
  fail "failed to get pool '$1'" "Speicher-Pool nicht gefunden: kein Speicher-Pool mit passendem Namen '$1'"
}
pool-list() { :; }
vol-dumpxml() { if [ "$3" = --pool ]; then no_pool "$4"; else no_volume "$2"; fi; }
vol-pool() { vol-dumpxml "$@"; }
vol-delete() { vol-dumpxml "$@"; }
command_not_found_handle() { printf "error: unknown command: '%s'\\n" "$1" >&2; }
[ -e "$host/commands" ] && . "$host/commands"
eval "\${4-$(cat)}"
exit 0
`

export class FakeVirsh {
  readonly directory = mkdtempSync(join(tmpdir(), 'holdfast-virsh-'))

  constructor() {
    mkdirSync(join(this.directory, 'bin'))
    writeFileSync(join(this.directory, 'bin/virsh'), SCRIPT)
    chmodSync(join(this.directory, 'bin/virsh'), 0o755)
  }

  get env(): Readonly<Record<string, string>> {
    return { PATH: `${join(this.directory, 'bin')}:${process.env.PATH}`, HOME: this.directory }
  }

  /** A machine that is off. Domains are named like their UUIDs, which is all the same to a script. */
  add(uri: string, record: MachineRecord): void {
    this.define(uri, `${record.stack}-${record.machine}`, recordElement(record))
  }

  define(uri: string, name: string, metadata: string): void {
    const xml = `<domain type='kvm'><name>${name}</name><uuid>${name}</uuid><memory>1024</memory><vcpu>1</vcpu>
      <metadata>${metadata}</metadata><devices/></domain>`
    writeFileSync(join(this.#host(uri), `${name}.xml`), xml)
  }

  /** `silent`: it cannot be reached. `endless`: it never answers. */
  make(uri: string, what: 'silent' | 'endless', isSo = true): void {
    if (isSo) writeFileSync(join(this.#host(uri), what), '')
    else rmSync(join(this.#host(uri), what), { force: true })
  }

  /** Functions of bash, by virsh's commands; `fail LINE…` is how one fails. */
  answer(uri: string, functions: string): void {
    writeFileSync(join(this.#host(uri), 'commands'), functions)
  }

  /** How many there were since the last time. */
  processes(uri: string): number {
    const path = join(this.#host(uri), 'processes')
    const count = existsSync(path) ? readFileSync(path).length : 0
    rmSync(path, { force: true })
    return count
  }

  domains(uri: string): string[] {
    return readdirSync(this.#host(uri))
      .filter((name) => name.endsWith('.xml'))
      .map((name) => name.slice(0, -'.xml'.length))
      .toSorted()
  }

  /** Commands that change something, in their order. */
  changes(uri: string): string[] {
    const path = join(this.#host(uri), 'changes')
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
  }

  close(): void {
    rmSync(this.directory, { recursive: true })
  }

  #host(uri: string): string {
    const path = join(this.directory, 'hosts', uri.replaceAll(/[^a-z0-9]/gu, '_'))
    mkdirSync(path, { recursive: true })
    return path
  }
}

export function machineRecord(stack: string, machine: string, more: Partial<MachineRecord> = {}): MachineRecord {
  const disk = { path: `/images/${stack}-${machine}`, format: 'qcow2', pool: 'default', isOurs: true }
  return {
    ...{ stack, machine, kind: 'etcd', address: '10.0.0.1', instanceId: 'i', seedDigest: '', hardware: {} },
    disks: { root: disk, seed: disk, data: undefined, program: undefined },
    ...more,
  }
}
