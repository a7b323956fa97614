import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeVirsh } from '../../../test/support/fake-virsh.ts'
import type { Hypervisor } from './hypervisor.ts'
import { openHypervisor } from './virsh.ts'

// virsh and its library speak English, the daemon German: what it says is never what is decided by.
const URI = 'qemu+ssh://kvm1/system'
const OFF = 'Angeforderte Operation ist nicht gültig: Domain läuft nicht'
const DENIED = 'Zugriff verweigert: polkit'

let virsh: FakeVirsh
let hypervisor: Hypervisor

beforeEach(() => {
  virsh = new FakeVirsh()
  virsh.answer(URI, '')
  hypervisor = openHypervisor(URI, { signal: new AbortController().signal, env: virsh.env })
})

afterEach(() => virsh.close())

test('what is as wanted is told by the state after the command', async () => {
  const answer = (state: string) =>
    virsh.answer(
      URI,
      `domstate() { printf '${state}\\n\\n'; }
      start() { fail "Failed to start domain 'a'" 'Domain läuft bereits'; }
      destroy() { fail "Failed to destroy domain 'a'" '${OFF}'; }
      shutdown() { fail "Failed to shutdown domain 'a'" '${OFF}'; }`,
    )
  for (const state of ['running', 'paused']) {
    answer(state)
    await hypervisor.start('a')
    await expect(hypervisor.destroy('a')).rejects.toMatchObject({ code: 'LibvirtFailed' })
    await expect(hypervisor.shutdown('a')).rejects.toMatchObject({ code: 'LibvirtFailed' })
  }
  answer('shut off')
  virsh.processes(URI)
  await hypervisor.destroy('a')
  expect(virsh.processes(URI)).toBe(1)
  await hypervisor.shutdown('a')
  await expect(hypervisor.start('a')).rejects.toThrow('Domain läuft bereits')
})

test('a domain whose state nobody tells is not as wanted', async () => {
  const none = `fail "failed to get domain 'a'"`
  virsh.answer(URI, `start() { ${none}; }; destroy() { ${none}; }; domstate() { ${none}; }`)
  await expect(hypervisor.start('a')).rejects.toMatchObject({ code: 'DomainMissing' })
  await expect(hypervisor.destroy('a')).rejects.toMatchObject({ code: 'DomainMissing' })
})

test('metadata and drives are changed whether the machine runs or not', async () => {
  const onlyOff = (refused: string) => `case "$*" in *${refused}*) fail '${OFF}' ;; esac`
  virsh.answer(URI, `metadata() { ${onlyOff('--live')}; }; change-media() { ${onlyOff('--live')}; }`)
  const element = '<h:machine xmlns:h="urn:holdfast:machine:1">x</h:machine>'
  await hypervisor.setMetadata('a', element)
  await hypervisor.changeMedia('a', 'sda', '/p/v')
  expect(virsh.processes(URI)).toBe(2)
  for (const refused of ['--config', '--current']) {
    virsh.answer(URI, `metadata() { ${onlyOff(refused)}; }; change-media() { ${onlyOff(refused)}; }`)
    await expect(hypervisor.setMetadata('a', element)).rejects.toMatchObject({ code: 'LibvirtFailed' })
    await expect(hypervisor.changeMedia('a', 'sda', '/p/v')).rejects.toMatchObject({ code: 'LibvirtFailed' })
  }
})

test('a drive is told whether it gets a file or a device', async () => {
  virsh.answer(URI, `change-media() { printf '%s\\n' "$*" >> "$host/changes"; }`)
  await hypervisor.changeMedia('a', 'sda', '/p/v')
  await hypervisor.changeMedia('a', 'sda', '/dev/p/v')
  expect(virsh.changes(URI).map((words) => words.includes('--block'))).toEqual([false, false, true, true])
})

test.each([
  ['GuestSilent', OFF],
  ['GuestSilent', 'Gast-Agent antwortet nicht: QEMU Gast-Agent ist nicht konfiguriert'],
  ['LibvirtFailed', "Agent QEMU-befehl 'guest-exec' kann nicht ausgeführt werden: The command is disabled"],
  ['DomainMissing', "failed to get domain 'a'"],
])('a guest agent fails with %s: %s', async (code, words) => {
  virsh.answer(URI, `qemu-agent-command() { fail "${words}"; }`)
  await expect(hypervisor.agent('a', { execute: 'guest-exec' }, 1000)).rejects.toMatchObject({
    code,
    message: `Cannot ask the guest agent of domain "a" on ${URI}: ${words}`,
    retryable: code === 'GuestSilent',
  })
})

test('what a guest agent answers is returned', async () => {
  virsh.answer(URI, `qemu-agent-command() { printf '{"return":{"pid":7}}\\n'; }`)
  expect(await hypervisor.agent('a', { execute: 'guest-exec' }, 1000)).toEqual({ pid: 7 })
})

test('a domain is gone when it cannot be asked and no list has it', async () => {
  virsh.define(URI, 'ab', '')
  const answer = (more: string) =>
    virsh.answer(URI, `domstate() { fail 'Domain nicht gefunden'; }; domid() { domstate; }; ${more}`)
  answer('')
  expect(await hypervisor.state('a')).toBeUndefined()
  expect(virsh.processes(URI)).toBe(1)
  await expect(hypervisor.state('ab')).rejects.toThrow('Domain nicht gefunden')
  answer(`list() { fail 'Failed to list domains' '${DENIED}'; }`)
  await expect(hypervisor.state('a')).rejects.toThrow(DENIED)
})

test('domains that go while they are read make us read again', async () => {
  for (const name of ['a', 'b']) virsh.define(URI, name, '')
  const vanish = `[ -e "$host/b.xml" ] && { rm "$host/b.xml"; fail 'Domain nicht gefunden'; return; }`
  virsh.answer(URI, `dumpxml() { for last; do :; done; [ "$last" = a ] || { ${vanish}; }; cat "$host/$last.xml"; }`)
  expect((await hypervisor.domains()).map(({ name }) => name)).toEqual(['a'])
  expect(virsh.processes(URI)).toBe(4)
})

test('a domain that is still listed and cannot be read is an error', async () => {
  virsh.define(URI, 'a', '')
  virsh.answer(URI, `dumpxml() { fail '${DENIED}'; }`)
  await expect(hypervisor.domains()).rejects.toThrow(DENIED)
  expect(virsh.processes(URI)).toBe(4)
})
