import { expect, test } from 'vitest'
import type { MachineStatus, StackStatus } from '../stack/status.ts'
import { formatStackStatus, type StackStatusOptions } from './stack-status-table.ts'
import { formatBytes, formatExpiry } from './status-units.ts'

const NOW = Date.parse('2026-11-16T12:00:00Z')
const PLAIN: StackStatusOptions = { colour: false, now: NOW }

function machine(name: string, more: Partial<MachineStatus> = {}): MachineStatus {
  return {
    machine: name,
    kind: 'etcd',
    address: `127.77.10.${name.split('-').at(-1)}`,
    state: 'ready',
    role: 'follower',
    version: '3.4.23',
    lagBytes: undefined,
    certificateExpires: '2027-11-01T00:00:00Z',
    restarts: 0,
    lastError: undefined,
    ...more,
  }
}

function status(machines: readonly MachineStatus[], more: Partial<StackStatus> = {}): StackStatus {
  return {
    stack: 'lab',
    file: '/home/me/stack.yaml',
    directory: '/var/lib/holdfast/stacks/lab',
    isReady: true,
    problems: [],
    isSupervised: true,
    supervisorPid: 4711,
    machines,
    names: [],
    examples: [],
    ...more,
  }
}

const lab = status(
  [
    machine('etcd-1', { role: 'leader' }),
    machine('postgres-1', { role: 'primary', version: '15.18' }),
    machine('postgres-2', {
      role: undefined,
      state: 'not ready',
      lagBytes: 16384,
      restarts: 2,
      lastError: 'exit code 1: FATAL',
    }),
  ],
  {
    isReady: false,
    problems: ['postgres: no synchronous standby'],
    names: [
      { name: 'primary.pg.lab.test', addresses: ['127.77.10.1'] },
      { name: 'replica.pg.lab.test', addresses: [] },
    ],
    examples: [
      { purpose: 'names', command: 'dig @127.77.20.1 primary.pg.lab.test +short' },
      { purpose: 'PostgreSQL', command: 'psql -h primary.pg.lab.test' },
    ],
  },
)

test('a stack is a table of machines, its names and what is wrong', () => {
  expect(formatStackStatus(lab, PLAIN)).toBe(
    `lab: not ready, 3 machines

MACHINE     ADDRESS      ROLE     STATE      VERSION    LAG  CERTIFICATE   RESTARTS  LAST ERROR
etcd-1      127.77.10.1  leader   ready      3.4.23       -  in 11 months         0
postgres-1  127.77.10.1  primary  ready      15.18        -  in 11 months         0
postgres-2  127.77.10.2  -        not ready  3.4.23   16 kB  in 11 months         2  exit code 1: FATAL

NAME                 ANSWER
primary.pg.lab.test  127.77.10.1
replica.pg.lab.test  no answer

postgres: no synchronous standby
`,
  )
})

test('the lines to try come last, when they are asked for', () => {
  const text = formatStackStatus(lab, { ...PLAIN, examples: true, width: 40 })
  expect(text).toMatch(
    /\n\nnames {7}dig @127.77.20.1 primary.pg.lab.test \+short\nPostgreSQL {2}psql -h primary.pg.lab.test\n$/u,
  )
})

test('without a supervisor it says so', () => {
  expect(formatStackStatus(status([], { isSupervised: false, isReady: false }), PLAIN)).toContain(
    'lab: not ready, 0 machines, nothing looks after its processes\n',
  )
})

test('states and certificates have colours', () => {
  const text = formatStackStatus(
    status([
      machine('a', { certificateExpires: '2026-11-26T12:00:00Z' }),
      machine('b', { certificateExpires: '2026-11-16T09:00:00Z', state: 'stopped' }),
    ]),
    { ...PLAIN, colour: true },
  )
  expect(text).toContain('\u001b[32mready    \u001b[39m')
  expect(text).toContain('\u001b[31mstopped  \u001b[39m')
  expect(text).toMatch(/\u001b\[33min 10 days +\u001b\[39m/u)
  expect(text).toMatch(/\u001b\[31mexpired 3 hours ago +\u001b\[39m/u)
})

test('a narrow terminal does without the less important columns, and errors are cut', () => {
  const error = { lastError: 'Cannot connect to anybody' }
  const lines = (width: number) =>
    formatStackStatus(status([machine('etcd-1', error)]), { ...PLAIN, width }).split('\n')
  expect(lines(100)[2]).toContain('VERSION')
  expect(lines(100)[3]).toMatch(/ {2}Cannot connect to anybody$/u)
  expect(lines(60).slice(2, 4)).toEqual([
    'MACHINE  ROLE      STATE  CERTIFICATE   LAST ERROR',
    'etcd-1   follower  ready  in 11 months  Cannot connect to a…',
  ])
  expect(lines(40).slice(2, 4)).toEqual(['MACHINE  ROLE      STATE', 'etcd-1   follower  ready'])
})

test('where not all machines fit, those that matter are shown and the others counted', () => {
  const machines = Array.from({ length: 100 }, (_, index) => machine(`node-${index + 1}`))
  const some = status(machines.with(49, machine('node-50', { state: 'stopped' })), {
    names: Array.from({ length: 9 }, (_, index) => ({ name: `name-${index}`, addresses: ['127.0.0.1'] })),
  })
  const text = formatStackStatus(some, { ...PLAIN, height: 14, highlighted: new Set(['node-70']) })
  expect(text.split('\n').map((line) => line.slice(0, 37).trimEnd())).toEqual([
    ...['lab: ready, 100 machines', '', 'MACHINE  ADDRESS       ROLE      STAT'],
    ...[
      'node-1   127.77.10.1   follower  read',
      'node-50  127.77.10.50  follower  stop',
      'node-70  127.77.10.70  follower  read',
    ],
    '… and 97 more: 97 ready',
    ...[
      '',
      'NAME    ANSWER',
      'name-0  127.0.0.1',
      'name-1  127.0.0.1',
      'name-2  127.0.0.1',
      'name-3  127.0.0.1',
      '… and 5 more',
      '',
    ],
  ])
})

test('errors of others do not steer the terminal', () => {
  expect(formatStackStatus(status([machine('a', { lastError: 'x\u001b[2J' })]), PLAIN)).toContain('x?[2J')
})

test.each([
  [336 * 24 * 3600, 'in 11 months'],
  [800 * 24 * 3600, 'in 2 years'],
  [40 * 24 * 3600, 'in 40 days'],
  [47 * 3600, 'in 47 hours'],
  [90, 'in 1 min'],
  [-3 * 24 * 3600, 'expired 3 days ago'],
])('%i seconds are told as "%s"', (seconds, expected) => {
  expect(formatExpiry(seconds * 1000)).toBe(expected)
})

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 kB'],
  [16 * 1024 * 1024, '16 MB'],
  [1.5 * 1024 ** 3, '1.5 GB'],
])('%i bytes are told as "%s"', (bytes, expected) => {
  expect(formatBytes(bytes)).toBe(expected)
})
