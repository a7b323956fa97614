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
    problem: undefined,
    lastError: undefined,
    disk: undefined,
    ...more,
  }
}

function status(machines: readonly MachineStatus[], more: Partial<StackStatus> = {}): StackStatus {
  return {
    stack: 'lab',
    file: '/home/me/stack.yaml',
    directory: '/var/lib/holdfast/stacks/lab',
    state: 'ready',
    isReady: true,
    stoppedAt: undefined,
    problems: [],
    clusters: [],
    isSupervised: true,
    unreadHypervisors: [],
    supervisorPid: 4711,
    machines,
    names: [],
    examples: [],
    ...more,
  }
}

const ERROR: MachineStatus['lastError'] = {
  at: '2026-11-16T11:57:30Z',
  service: 'patroni',
  kind: 'exited',
  exitCode: 1,
  message: 'exit code 1: FATAL',
}

const lab = status(
  [
    machine('etcd-1', { role: 'leader' }),
    machine('postgres-1', { role: 'primary', version: '15.18' }),
    machine('postgres-2', {
      role: undefined,
      state: 'down',
      lagBytes: 16384,
      restarts: 2,
      problem: 'Patroni does not answer: connection refused',
      lastError: ERROR,
    }),
  ],
  {
    state: 'degraded',
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
    `lab: degraded, 2 of 3 machines work

MACHINE     ADDRESS      ROLE     STATE  VERSION    LAG  CERTIFICATE   RESTARTS
etcd-1      127.77.10.1  leader   ready  3.4.23       -  in 11 months  -
postgres-1  127.77.10.1  primary  ready  15.18        -  in 11 months  -
postgres-2  127.77.10.2  -        down   3.4.23   16 kB  in 11 months  2 (2 min ago)

NAME                 ANSWER
primary.pg.lab.test  127.77.10.1
replica.pg.lab.test  no answer

postgres: no synchronous standby
postgres-2: Patroni does not answer: connection refused; patroni: exit code 1: FATAL (2 min ago)
`,
  )
})

test('the lines to try come last, when they are asked for', () => {
  const text = formatStackStatus(lab, { ...PLAIN, examples: true, width: 40 })
  expect(text).toMatch(
    /\n\nnames {7}dig @127.77.20.1 primary.pg.lab.test \+short\nPostgreSQL {2}psql -h primary.pg.lab.test\n$/u,
  )
})

test('a stack that was stopped is no incident', () => {
  const machines = [machine('etcd-1', { state: 'stopped', role: undefined, version: undefined })]
  const stopped = status(machines, { state: 'stopped', isReady: false, stoppedAt: '2026-11-16T09:00:00Z' })
  const text = formatStackStatus({ ...stopped, isSupervised: false, supervisorPid: undefined }, PLAIN)
  expect(text).toBe(
    `lab: stopped 3 h ago by "holdfast down", 1 machines; "holdfast up" starts it

MACHINE  ADDRESS      STATE    CERTIFICATE
etcd-1   127.77.10.1  stopped  in 11 months
`,
  )
})

test('a stack that was never created is one line', () => {
  expect(formatStackStatus(status([], { state: 'absent', isReady: false }), PLAIN)).toBe(
    'lab: absent: it was never created, or was removed; "holdfast up /home/me/stack.yaml" creates it\n',
  )
})

test('an error that is over is not shown for a machine that is ready; how often and when it restarted is', () => {
  const text = formatStackStatus(status([machine('a', { restarts: 3, lastError: ERROR })]), PLAIN)
  expect(text).toContain('3 (2 min ago)')
  expect(text).not.toContain('FATAL')
})

test('a problem of a machine that works is shown, and one that the stack has is not repeated', () => {
  const pending = formatStackStatus(status([machine('a', { problem: 'restart pending' })]), PLAIN)
  expect(pending).toMatch(/\na: restart pending\n$/u)
  const disk = 'the disk at / is full: 0 of 512 MiB free'
  const full = { state: 'degraded', problem: disk } as const
  const text = formatStackStatus(status([machine('a', full), machine('b', full)], { problems: [disk] }), PLAIN)
  expect(text.split(disk)).toHaveLength(2)
})

test('states and certificates have colours', () => {
  const text = formatStackStatus(
    status([
      machine('a', { certificateExpires: '2026-11-26T12:00:00Z' }),
      machine('b', { certificateExpires: '2026-11-16T09:00:00Z', state: 'down' }),
    ]),
    { ...PLAIN, colour: true },
  )
  expect(text).toContain('\u001b[32mready  \u001b[39m')
  expect(text).toContain('\u001b[31mdown   \u001b[39m')
  expect(text).toMatch(/\u001b\[33min 10 days *\u001b\[39m/u)
  expect(text).toMatch(/\u001b\[31mexpired 3 hours ago *\u001b\[39m/u)
})

test('a narrow terminal does without the less important columns; what is wrong is wrapped, not cut', () => {
  const down = {
    state: 'down',
    restarts: 2,
    lastError: ERROR,
    problem: 'Patroni does not answer: connection refused',
  } as const
  const machines = [machine('postgres-1', { role: 'sync standby', lagBytes: 16384, ...down }), machine('etcd-1')]
  const lines = (width: number) =>
    formatStackStatus(status(machines, { state: 'down' }), { ...PLAIN, width }).split('\n')
  expect(lines(100)[2]).toContain('VERSION')
  expect(lines(80).slice(2)).toEqual([
    'MACHINE     ADDRESS      ROLE          STATE    LAG  CERTIFICATE   RESTARTS',
    'postgres-1  127.77.10.1  sync standby  down   16 kB  in 11 months  2 (2 min ago)',
    'etcd-1      127.77.10.1  follower      ready      -  in 11 months  -',
    '',
    'postgres-1: Patroni does not answer: connection refused; patroni: exit code 1:',
    '  FATAL (2 min ago)',
    '',
  ])
  expect(lines(78)[2]).toBe('MACHINE     ADDRESS      ROLE          STATE    LAG  RESTARTS')
  expect(lines(40)[2]).toBe('MACHINE     STATE  RESTARTS')
  expect(lines(40).filter((line) => line.length > 40)).toEqual([])
})

test('a certificate that expires soon stays on a narrow terminal', () => {
  const soon = machine('etcd-1', { certificateExpires: '2026-11-20T00:00:00Z' })
  expect(formatStackStatus(status([soon]), { ...PLAIN, width: 40 })).toContain('in 3 days')
})

test('where not all machines fit, those that matter are shown and the others counted', () => {
  const machines = Array.from({ length: 100 }, (_, index) => machine(`node-${index + 1}`))
  const some = status(machines.with(49, machine('node-50', { state: 'down' })), {
    names: Array.from({ length: 9 }, (_, index) => ({ name: `name-${index}`, addresses: ['127.0.0.1'] })),
  })
  const text = formatStackStatus(some, { ...PLAIN, height: 14, highlighted: new Set(['node-70']) })
  expect(text.split('\n').map((line) => line.slice(0, 37).trimEnd())).toEqual([
    ...['lab: ready, 100 machines', '', 'MACHINE  ADDRESS       ROLE      STAT'],
    ...[
      'node-1   127.77.10.1   follower  read',
      'node-50  127.77.10.50  follower  down',
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
  expect(formatStackStatus(status([machine('a', { problem: 'x\u001b[2J' })]), PLAIN)).toContain('x?[2J')
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
