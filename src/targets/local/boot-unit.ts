// A systemd unit that starts the supervisor of a stack when the host starts, and ends the processes of the stack when the
// host stops. Only for root, and only where systemd runs; elsewhere `holdfast up` starts a stack after a reboot.
//
// The unit stays active without a main process: the supervisor may be renewed, and services outlive it. What the unit
// started is in its control group, which systemd ends as a whole.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { replaceFile } from '../../lib/atomic-file.ts'
import { HoldfastError, reasonOf } from '../../lib/errors.ts'
import { capture } from '../../lib/exec.ts'
import { commandLine } from '../../machine/systemd-text.ts'

export interface BootUnitOptions {
  /** Of the stack. */
  readonly directory: string
  /** Where units are; tests have their own. */
  readonly units?: string
  readonly systemctl?: readonly string[]
}

const UNITS = '/etc/systemd/system'
const STACKS = '/var/lib/holdfast/stacks'
/** systemd itself says by this directory that it is the init system (sd_booted). */
const BOOTED = '/run/systemd/system'
const TIMEOUT_MS = 180_000
const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' }

export function hasSystemd(): boolean {
  return existsSync(BOOTED)
}

export class BootUnit {
  readonly #directory: string
  readonly #path: string
  readonly #systemctl: readonly string[]

  constructor({ directory, units = UNITS, systemctl = ['systemctl'] }: BootUnitOptions) {
    this.#directory = directory
    this.#path = join(units, unitOf(directory))
    this.#systemctl = systemctl
  }

  get name(): string {
    return basename(this.#path)
  }

  /** `program` gives the words that start our own program. A unit that the user has disabled stays disabled. */
  async install(program: readonly string[]): Promise<void> {
    const text = unitText(this.#directory, program)
    const installed = this.#read()
    if (installed === text) return
    try {
      await replaceFile(this.#path, text, 0o644)
    } catch (error) {
      throw new HoldfastError('BootUnitFailed', `Cannot write "${this.#path}": ${reasonOf(error)}`, { cause: error })
    }
    try {
      await this.#call('daemon-reload')
      if (installed === undefined) await this.#call('enable', this.name)
    } catch (error) {
      // The next run tries it again.
      if (installed === undefined) rmSync(this.#path, { force: true })
      throw error
    }
  }

  /** Starts the supervisor in the control group of the unit, also if the unit is active and the supervisor has ended. */
  async start(): Promise<void> {
    await this.#call('reload-or-restart', this.name)
  }

  async remove(): Promise<void> {
    if (this.#read() === undefined) return
    await this.#call('disable', '--now', this.name)
    rmSync(this.#path, { force: true })
    await this.#call('daemon-reload')
  }

  #read(): string | undefined {
    return existsSync(this.#path) ? readFileSync(this.#path, 'utf8') : undefined
  }

  async #call(...words: readonly string[]): Promise<void> {
    const { signal } = new AbortController()
    const options = { timeoutMs: TIMEOUT_MS, signal, env: ENVIRONMENT }
    const { reason, stderr } = await capture([...this.#systemctl, ...words], options)
    if (reason === undefined) return
    const why = stderr.trim().split('\n')[0] || reason
    throw new HoldfastError('BootUnitFailed', `Cannot ${words[0]} the unit "${this.name}": ${why}`, {
      hint: `see "systemctl status ${this.name}"; without the unit the stack does not start with the host`,
    })
  }
}

/** Stacks of one name in different state directories have different units. */
function unitOf(directory: string): string {
  const name = basename(directory)
  if (dirname(directory) === STACKS) return `holdfast-stack-${name}.service`
  return `holdfast-stack-${name}-${createHash('sha256').update(directory).digest('hex').slice(0, 8)}.service`
}

function unitText(directory: string, program: readonly string[]): string {
  const start = commandLine([...program, 'supervise', '--detach', directory])
  return `# Written by "holdfast up", removed by "holdfast down".
[Unit]
Description=Holdfast stack ${basename(directory)}
Wants=network-online.target
After=network-online.target local-fs.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=${start}
ExecReload=${start}
TimeoutStopSec=120

[Install]
WantedBy=multi-user.target
`
}
