import { expect, test } from 'vitest'
import { diffLines } from '../lib/diff.ts'
import type { Detail, MachinePlan, Plan } from '../stack/plan.ts'
import { formatPlan, type PlanTextOptions } from './plan-text.ts'

const PLAIN: PlanTextOptions = { colour: false }

function plan(...machines: readonly MachinePlan[]): Plan {
  return { stack: 'lab', file: '/home/me/stack.yaml', machines }
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
  return { what: 'file', name, change: 'add', why: 'new', effect: 'start', diff }
}

function parameter(before: string, after: string): MachinePlan {
  const text = (value: string) => `postgresql:\n  parameters:\n    - a\n    max_connections: ${value}\n`
  const diff = diffLines(text(before), text(after))
  const details: Detail[] = [
    { what: 'file', name: '/etc/patroni.yml', change: 'change', why: 'content differs', effect: 'restart', diff },
  ]
  return machine('postgres-1', { kind: 'postgres', action: 'update', effect: 'restart', details })
}

test('nothing to do is one line', () => {
  expect(formatPlan(plan(machine('etcd-1')), PLAIN)).toBe('No changes: lab is as stack.yaml says\n')
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
  const step: Detail = { what: 'service', name: 'etcd-auth', change: 'add', why: 'new', effect: 'start', diff: [] }
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
    return { what: 'hardware', name, change: 'change', why, effect, diff }
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
