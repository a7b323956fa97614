import { describe, expect, test } from 'vitest'
import { Secret } from '../lib/secret.ts'
import { content, plain, reveal } from '../machine/content.ts'
import type { Machine, MachineFile, Service } from '../machine/machine.ts'
import type { ExistingMachine, HardwareChange, MachineState } from '../targets/target.ts'
import { compareMachine, removedMachine } from './compare.ts'
import { restartsCluster } from './plan.ts'

const service: Service = {
  name: 'etcd',
  user: 'etcd',
  command: ['/usr/bin/etcd'],
  environment: {},
  stopSignal: 'SIGTERM',
  stopTimeoutMs: 1000,
}
const step: Service = { ...service, name: 'step', once: true }
const settings: MachineFile = {
  path: '/etc/settings',
  owner: 'etcd',
  mode: 0o600,
  content: plain('a=1\nb=2\n'),
  onChange: { restart: 'etcd' },
}

function machine(files: readonly MachineFile[], services: readonly Service[] = [service]): Machine {
  return {
    name: 'etcd-1',
    kind: 'etcd',
    address: '127.1.10.1',
    hardware: {} as Machine['hardware'],
    packages: [],
    directories: [{ path: '/etc', owner: 'root', mode: 0o755 }],
    files,
    services,
    ports: [],
  }
}

function existing({ name, kind, address, files, services }: Machine): ExistingMachine {
  const texts = files.map(({ path, owner, mode, content }) => [path, { owner, mode, text: reveal(content) }] as const)
  const directories = new Map([['/etc', { owner: 'root', mode: 0o755, isData: false }]])
  return { name, kind, address, files: new Map(texts), services, pending: new Map(), directories }
}

const running: MachineState = {
  services: new Map(
    ['etcd', 'step', 'fluent-bit'].map((name) => [
      name,
      { state: 'running', pid: 1, since: 0, restarts: 0, failure: undefined } as const,
    ]),
  ),
}

function changed(file: MachineFile, other: Partial<MachineFile>, services: readonly Service[] = [service]) {
  const before = existing(machine([file], services))
  return compareMachine(machine([{ ...file, ...other }], services), before, running, { withOwners: true })
}

test('a machine that is as it should be has no change', () => {
  const plan = compareMachine(machine([settings]), existing(machine([settings])), running, { withOwners: true })
  expect(plan).toMatchObject({ action: 'none', effect: 'none', details: [] })
})

test('a machine that does not exist is created, with all it is made of', () => {
  const plan = compareMachine(machine([settings]), undefined, undefined, { withOwners: true })
  expect(plan).toMatchObject({ action: 'create', effect: 'start' })
  expect(plan.details.map(({ what, name }) => [what, name])).toEqual([
    ['file', '/etc/settings'],
    ['service', 'etcd'],
  ])
})

test('a machine that nobody wants any more is removed', () => {
  expect(removedMachine(existing(machine([])))).toMatchObject({ action: 'delete', effect: 'remove' })
})

describe('a changed file', () => {
  test('shows the lines that differ, and takes what it says', () => {
    const plan = changed(settings, { content: plain('a=1\nb=3\n') })
    expect(plan).toMatchObject({ action: 'update', effect: 'restart' })
    expect(plan.details[0].diff).toEqual([
      { sign: ' ', text: 'a=1' },
      { sign: '-', text: 'b=2' },
      { sign: '+', text: 'b=3' },
    ])
  })

  test('for a step that is done again disturbs no service', () => {
    const file: MachineFile = { ...settings, onChange: { restart: 'step' } }
    expect(changed(file, { content: plain('a=2\n') }, [service, step]).effect).toBe('none')
  })

  test('that only the first start reads is left alone', () => {
    expect(changed({ ...settings, isInitial: true }, { content: plain('other') }).action).toBe('none')
  })

  test('never shows a secret, neither the new one nor the old', () => {
    const before = { ...settings, content: content`user=a\npassword=${new Secret('old-secret')}\nport=1\n` }
    const after = { content: content`user=a\npassword=${new Secret('new-secret')}\nport=2\n` }
    const text = JSON.stringify(changed(before, after))
    expect(text).not.toMatch(/old-secret|new-secret/u)
    expect(text).toContain('port=2')
    expect(text).toContain('user=a')
  })

  test('in which only a secret changed says so', () => {
    const before = { ...settings, content: content`${new Secret('old')}` }
    const plan = changed(before, { content: content`${new Secret('new')}` })
    expect(plan.details).toHaveLength(1)
    expect(JSON.stringify(plan)).not.toMatch(/"(?:old|new)"/u)
  })
})

test('a mode or an owner that differs is told, owners only where they can be set', () => {
  expect(changed(settings, { mode: 0o640 }).details[0].why).toBe('mode is 0600, expected 0640')
  expect(changed(settings, { owner: 'root' }).details[0].why).toBe('owner is etcd, expected root')
  const before = existing(machine([settings]))
  const after = machine([{ ...settings, owner: 'root' }])
  expect(compareMachine(after, before, running, { withOwners: false }).action).toBe('none')
})

test('a service that does not run is started, one that is started in another way restarted', () => {
  const before = existing(machine([]))
  expect(compareMachine(machine([]), before, undefined, { withOwners: true })).toMatchObject({
    action: 'update',
    effect: 'start',
  })
  const other = machine([], [{ ...service, command: ['/usr/bin/etcd', '--x'] }])
  expect(compareMachine(other, before, running, { withOwners: true }).effect).toBe('restart')
})

test('a service that is only stopped in another way goes on running', () => {
  const other = machine([], [{ ...service, stopTimeoutMs: 2000 }])
  expect(compareMachine(other, existing(machine([])), running, { withOwners: true })).toMatchObject({
    action: 'update',
    effect: 'none',
  })
})

test('a step that is started in another way, or late, disturbs no service', () => {
  const before = existing(machine([], [service, step]))
  const other = machine([], [service, { ...step, command: ['/bin/true'] }])
  expect(compareMachine(other, before, running, { withOwners: true })).toMatchObject({
    action: 'update',
    effect: 'none',
    details: [{ name: 'step', change: 'change', reason: 'started-otherwise' }],
  })
  const late = { ...before, pending: new Map([['step', 'restart' as const]]) }
  expect(compareMachine(machine([], [service, step]), late, running, { withOwners: true })).toMatchObject({
    action: 'update',
    effect: 'none',
  })
})

test('a service that was not told of its new files is told now', () => {
  const before = { ...existing(machine([settings])), pending: new Map([['etcd', 'reload' as const]]) }
  expect(compareMachine(machine([settings]), before, running, { withOwners: true })).toMatchObject({
    action: 'update',
    effect: 'reload',
  })
})

describe('hardware that differs', () => {
  const change: HardwareChange = {
    ...{ name: 'memory', from: '1024', to: '2048', takes: 'next start', why: 'a running machine keeps its memory' },
  }
  const compare = (...hardware: HardwareChange[]) =>
    compareMachine(machine([settings]), existing(machine([settings])), running, { withOwners: true, hardware })

  test('waits for the next start where it can', () => {
    expect(compare(change)).toMatchObject({
      action: 'update',
      effect: 'next start',
      details: [
        {
          what: 'hardware',
          name: 'memory',
          diff: [
            { sign: '-', text: '1024' },
            { sign: '+', text: '2048' },
          ],
        },
      ],
    })
  })

  test('interrupts nothing where it is changed while the machine runs', () => {
    expect(compare({ ...change, name: 'autostart', takes: 'live' })).toMatchObject({ action: 'update', effect: 'none' })
  })

  test('leaves data where it is only on a disk of its own that stays', () => {
    const anew: HardwareChange = { ...change, name: 'volume_id', takes: 'replace' }
    const keeps = (hasDataDisk: boolean, ...changes: HardwareChange[]) =>
      compareMachine(machine([settings]), { ...existing(machine([settings])), hasDataDisk }, running, {
        withOwners: true,
        hardware: changes,
      }).keepsData
    expect(keeps(true, anew)).toBe(true)
    expect(keeps(false, anew)).toBe(false)
    expect(keeps(true, anew, { ...anew, name: 'data_volume_id' })).toBe(false)
    expect(keeps(true, { ...anew, name: 'hypervisor' })).toBe(false)
  })

  test('has the machine made anew where there is no other way', () => {
    expect(compare(change, { ...change, name: 'volume_id', takes: 'replace' })).toMatchObject({
      action: 'replace',
      effect: 'replace',
    })
  })
})

test('a service of the machine itself that restarts is named, and interrupts no cluster', () => {
  const logs: Service = { ...service, name: 'fluent-bit', isOfHost: true }
  const file: MachineFile = { ...settings, onChange: { restart: 'fluent-bit' } }
  const other = { content: plain('a=2\n') }
  const both = [service, logs]
  const ofLogs = changed(file, other, both).details
  expect(ofLogs).toMatchObject([{ effect: 'restart', hostService: 'fluent-bit' }])
  expect(ofLogs.some(restartsCluster)).toBe(false)
  const ofEtcd = changed(settings, other, both).details
  expect(ofEtcd[0]).not.toHaveProperty('hostService')
  expect(ofEtcd.some(restartsCluster)).toBe(true)
  const before = existing(machine([], [service, { ...logs, command: ['/usr/bin/old'] }]))
  const { details } = compareMachine(machine([], both), before, running, { withOwners: true })
  expect(details).toMatchObject([{ name: 'fluent-bit', effect: 'restart', hostService: 'fluent-bit' }])
})
