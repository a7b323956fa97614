import { expect, test } from 'vitest'
import { diffLines } from '../lib/diff.ts'
import { type Detail, makePlan, type MachinePlan, type Plan, type PlannedHardware } from '../stack/plan.ts'
import { formatPlan, type PlanTextOptions } from './plan-text.ts'

const PLAIN: PlanTextOptions = { colour: false }

function plan(...machines: readonly MachinePlan[]): Plan {
  return makePlan({ stack: 'lab', file: '/home/me/stack.yaml', machines, restarts: [], credentials: [], remarks: [] })
}

function machine(name: string, changes: Partial<MachinePlan> = {}): MachinePlan {
  const address = `127.77.10.${name.split('-').at(-1)}`
  return { machine: name, kind: 'etcd', address, action: 'none', effect: 'none', details: [], ...changes }
}

function newEtcd(number: number, more: readonly Detail[] = []): MachinePlan {
  const name = `etcd-${number}`
  const details = [
    newFile('/etc/etcd/etcd.env', [`ETCD_NAME=${name}`, 'B=2']),
    newFile(`/etc/etcd/${name}.pem`),
    ...more,
  ]
  return machine(name, { action: 'create', effect: 'start', details })
}

function newFile(name: string, lines: readonly string[] = []): Detail {
  const diff = lines.map((text) => ({ sign: '+', text }) as const)
  return { what: 'file', name, change: 'add', reason: 'new', why: 'new', effect: 'start', diff }
}

function parameter(before: string, after: string): MachinePlan {
  const text = (value: string) => `postgresql:\n  parameters:\n    - a\n    max_connections: ${value}\n`
  const diff = diffLines(text(before), text(after))
  const details: Detail[] = [
    {
      ...{ what: 'file', name: '/etc/patroni.yml', change: 'change', reason: 'content' },
      ...{ why: 'content differs', effect: 'restart', diff },
    },
  ]
  return machine('postgres-1', { kind: 'postgres', action: 'update', effect: 'restart', details })
}

test('nothing to do is one line', () => {
  expect(formatPlan(plan(machine('etcd-1')), PLAIN)).toBe('No changes. lab matches stack.yaml\n')
})

test('machines with the same change are told together, with the details once', () => {
  expect(formatPlan(plan(newEtcd(1), newEtcd(2)), PLAIN)).toBe(
    `Plan for lab, from /home/me/stack.yaml

+ etcd-1  127.77.10.1  starts etcd
+ etcd-2  127.77.10.2  starts etcd
  on each of them, as here on etcd-1:
    + file /etc/etcd/etcd.env (2 lines)
    + file /etc/etcd/etcd-1.pem

2 to create, 0 to update, 0 to delete; 0 restarts
`,
  )
})

test('a change is told with its reason, its effect and its lines; what stays as it is is left out', () => {
  const gone: Detail = {
    what: 'member',
    name: 'dns-3',
    change: 'remove',
    reason: 'left',
    why: 'no longer in the stack file',
    effect: 'remove',
    diff: [],
  }
  const removed = machine('dns-3', { kind: 'dns', action: 'delete', effect: 'remove', details: [gone] })
  expect(formatPlan(plan(machine('etcd-1'), parameter('100', '200'), removed), PLAIN)).toBe(
    `Plan for lab, from /home/me/stack.yaml

~ postgres-1  127.77.10.1  restarts PostgreSQL
    ~ file /etc/patroni.yml: content differs, restart
          postgresql:
            parameters:
              - a
        -     max_connections: 100
        +     max_connections: 200

- dns-3       127.77.10.3  stops the name server; removed with its data
    - member dns-3: no longer in the stack file

0 to create, 1 to update, 1 to delete; 1 restart
`,
  )
})

test('with verbose, new files are shown whole', () => {
  expect(formatPlan(plan(newEtcd(1)), { colour: false, verbose: true })).toContain(
    '    + file /etc/etcd/etcd.env (2 lines)\n        + ETCD_NAME=etcd-1\n        + B=2\n',
  )
})

test('a machine that differs from the others stands alone', () => {
  const step: Detail = {
    ...{ what: 'service', name: 'etcd-auth', change: 'add', reason: 'new', why: 'new', effect: 'start', diff: [] },
  }
  const text = formatPlan(plan(newEtcd(1, [step]), newEtcd(2), newEtcd(3)), PLAIN)
  expect(text).toContain('+ etcd-1  127.77.10.1  starts etcd\n    + file')
  expect(text).toContain('    + service etcd-auth\n\n+ etcd-2  127.77.10.2  starts etcd\n+ etcd-3')
})

test('a thousand machines stay readable', () => {
  const machines = Array.from({ length: 1000 }, (_, index) => newEtcd(index + 1))
  const lines = formatPlan(plan(...machines), PLAIN).split('\n')
  expect(lines.length).toBeLessThan(20)
  expect(lines).toContain('  … and 994 more like them')
  expect(lines.at(-2)).toBe('1000 to create, 0 to update, 0 to delete; 0 restarts')
})

test('of many details and long differences only the first are shown', () => {
  const many = Array.from({ length: 100 }, (_, index) => newFile(`/zones/${index}`))
  expect(formatPlan(plan(newEtcd(1, many)), PLAIN)).toContain('    … and 82 more; --verbose shows them\n')
  const text = (word: string) => Array.from({ length: 50 }, (_, line) => `${word} ${line}\n`).join('')
  const long: Detail = { ...newFile('/x'), change: 'change', diff: diffLines(text('a'), text('b')) }
  expect(formatPlan(plan(newEtcd(1, [long])), PLAIN)).toContain('        … and 60 more lines; --verbose shows them\n')
})

test('colours tell what comes and goes, and a context line that begins with a dash is neither', () => {
  const lines = formatPlan(plan(parameter('100', '200')), { colour: true }).split('\n')
  expect(lines).toContain('\u001b[33m~ postgres-1\u001b[39m  127.77.10.1  restarts PostgreSQL')
  expect(lines).toContain('\u001b[31m        -     max_connections: 100\u001b[39m')
  expect(lines).toContain('\u001b[32m        +     max_connections: 200\u001b[39m')
  expect(lines).toContain('\u001b[2m              - a\u001b[22m')
})

test('no line is wider than the terminal, and nothing in it steers the terminal', () => {
  const text = formatPlan(plan(parameter('1\u001b[2J', '2'.repeat(100))), { colour: false, width: 40 })
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBe(40)
  expect(text).toContain('max_connections: 1?[2J\n')
})

test('a machine that is made anew says why, and one that waits for its next start says so', () => {
  const change = (name: string, effect: 'replace' | 'next start', why: string): Detail => {
    const diff = diffLines('1024', '2048')
    return { what: 'hardware', name, change: 'change', reason: 'hardware', why, effect, diff }
  }
  const anew = machine('etcd-1', {
    ...{ action: 'replace', effect: 'replace' },
    details: [change('volume_id', 'replace', 'its root disk is another one')],
  })
  const waiting = machine('etcd-2', {
    ...{ action: 'update', effect: 'next start' },
    details: [change('memory', 'next start', 'a running machine keeps its memory')],
  })
  expect(formatPlan(plan(anew, waiting), PLAIN)).toBe(`Plan for lab, from /home/me/stack.yaml

± etcd-1  127.77.10.1  made anew, in its turn
    ~ volume_id: its root disk is another one, has to be made anew
        - 1024
        + 2048

~ etcd-2  127.77.10.2  interrupts nothing; some of it from its next start on
    ~ memory: a running machine keeps its memory, from its next start on
        - 1024
        + 2048

0 to create, 1 to update, 1 to make anew, 0 to delete; 0 restarts
`)
})

test('restarts of PostgreSQL for its parameters are named and counted, and what that means for writes', () => {
  const detail: Detail = {
    ...{ what: 'parameter', name: 'max_connections', change: 'change', reason: 'parameter' },
    ...{ why: 'needs a restart', effect: 'restart' },
    diff: [
      { sign: '-', text: '100' },
      { sign: '+', text: '150' },
    ],
  }
  const members = [1, 2, 3].map((i) =>
    machine(`postgres-${i}`, { kind: 'postgres', action: 'update', effect: 'restart', details: [detail] }),
  )
  const restart = { parameters: ['max_connections'], isPrimary: false, how: 'restart' } as const
  const restarts = [
    { ...restart, machine: 'postgres-2' },
    { ...restart, machine: 'postgres-3' },
    { ...restart, machine: 'postgres-1', isPrimary: true, how: 'switchover' as const },
  ]
  const text = formatPlan({ ...plan(...members), restarts, remarks: ['mind this'] }, PLAIN)
  expect(text).toBe(`Plan for lab, from /home/me/stack.yaml

~ postgres-1  127.77.10.1  restarts PostgreSQL (max_connections)
    it is the primary: a standby takes over first, writes pause meanwhile
    ~ parameter max_connections: needs a restart
        - 100
        + 150

~ postgres-2  127.77.10.2  restarts PostgreSQL (max_connections)
~ postgres-3  127.77.10.3  restarts PostgreSQL (max_connections)
  on each of them:
    ~ parameter max_connections: needs a restart
        - 100
        + 150

Note: mind this
0 to create, 3 to update, 0 to delete; 3 restarts, 1 switchover
`)
})

test('a primary that hands over for another reason than a parameter counts as a switchover, once', () => {
  const primary = machine('postgres-1', { kind: 'postgres', action: 'update', effect: 'restart', handsOver: true })
  expect(formatPlan(plan(primary), PLAIN)).toContain(' restarts, 1 switchover\n')
  const restarts = [{ machine: 'postgres-1', parameters: ['a'], isPrimary: true, how: 'switchover' as const }]
  expect(formatPlan({ ...plan(primary), restarts }, PLAIN)).toContain(', 1 switchover\n')
})

test.each([
  [
    { effect: 'restart' },
    [{ isPrimary: true }],
    'restarts PostgreSQL (a)\n    it is the primary: writes pause until it is back',
  ],
  [{ effect: 'start' }, [{}], 'starts PostgreSQL, then restarts it (a)'],
  [{ effect: 'restart' }, [{}, {}], 'restarts PostgreSQL twice (a)'],
  [{ effect: 'restart' }, [{ parameters: [] }], 'restarts PostgreSQL (pending)'],
  [{ effect: 'remove', action: 'delete' }, [{}], 'restarts PostgreSQL (a), then stops it; removed with its data'],
] as const)('%j with restarts %j: %s', (change, given, words) => {
  const member = machine('postgres-1', { kind: 'postgres', action: 'update', ...change })
  const restarts = given.map((each) => {
    return { machine: 'postgres-1', parameters: ['a'], isPrimary: false, how: 'restart' as const, ...each }
  })
  const text = formatPlan({ ...plan(member), restarts }, PLAIN)
  expect(text).toContain(`  ${words}\n`)
  expect(text).toContain(`; ${given.length} restart${given.length === 1 ? '' : 's'}\n`)
})

test('a virtual machine that is made is described in one line each, whatever the width', () => {
  const hardware = (name: string): PlannedHardware => ({
    ...{ domain: `lab-${name}`, hypervisor: 'qemu:///system', vcpus: 2, memoryMib: 8192 },
    ...{ disks: ['disk default/base.qcow2 (copy, 10 GiB)'], networks: ['network mynetwork 192.168.121.4'] },
  })
  const machines = [1, 2].map((i) => ({ ...newEtcd(i), hardware: hardware(`etcd-${i}`) }))
  expect(formatPlan(plan(...machines), { ...PLAIN, width: 60 })).toContain(`
+ etcd-1  127.77.10.1  starts etcd
    new VM lab-etcd-1 on qemu:///system: 2 vCPUs, 8 GiB memory, disk default/base.qcow2 (copy, 10 GiB), network mynetwork 192.168.121.4
+ etcd-2  127.77.10.2  starts etcd
    new VM lab-etcd-2 on qemu:///system: 2 vCPUs, 8 GiB memory, disk default/base.qcow2 (copy, 10 GiB), network mynetwork 192.168.121.4
  on each of them`)
})

test('a primary whose Patroni restarts hands over first', () => {
  const service: Detail = {
    ...{ what: 'service', name: 'patroni', change: 'change', reason: 'started-otherwise', why: 'changed' },
    ...{ effect: 'restart', diff: [] },
  }
  const member = { kind: 'postgres', action: 'update', effect: 'restart', details: [service] } as const
  const text = formatPlan(
    plan(machine('postgres-1', { ...member, handsOver: true }), machine('postgres-2', member)),
    PLAIN,
  )
  expect(text).toContain(
    'restarts PostgreSQL\n    it is the primary: a standby takes over first, writes pause meanwhile\n',
  )
  expect(text).toContain('; 2 restarts, 1 switchover\n')
})

test('a restart of a service of the machine itself is none of PostgreSQL', () => {
  const logs: Detail = {
    ...{ what: 'file', name: '/etc/logs', change: 'change', reason: 'content', why: 'content differs' },
    ...{ effect: 'restart', hostService: 'fluent-bit', diff: [] },
  }
  const member = machine('postgres-1', { kind: 'postgres', action: 'update', effect: 'restart', details: [logs] })
  expect(formatPlan(plan(member), PLAIN)).toContain('127.77.10.1  restarts fluent-bit\n')
  const restarts = [
    { machine: 'postgres-1', parameters: ['max_connections'], isPrimary: false, how: 'restart' as const },
  ]
  expect(formatPlan({ ...plan(member), restarts }, PLAIN)).toContain('restarts PostgreSQL (max_connections)\n')
})

test('credentials of the operator are a change of their own', () => {
  const credentials = [{ id: 'patroni/operator', what: 'certificate', why: 'has lost its key' }] as const
  const text = formatPlan({ ...plan(machine('etcd-1')), credentials }, PLAIN)
  expect(text).toContain('\n~ certificate patroni/operator: has lost its key; issued by "up"\n')
  expect(text).toContain('0 to create, 0 to update, 0 to delete')
})
