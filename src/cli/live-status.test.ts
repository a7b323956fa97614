import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Terminal } from '../../test/support/terminal.ts'
import type { MachineStatus, StackStatus } from '../stack/status.ts'
import { LiveStatus, watchStatus } from './live-status.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(2026, 10, 16, 12, 3, 4) })
})
afterEach(() => {
  vi.useRealTimers()
})

function status(roles: Readonly<Record<string, string>>, more: Partial<StackStatus> = {}): StackStatus {
  const machines = Object.entries(roles).map(
    ([machine, role], index): MachineStatus => ({
      machine,
      kind: 'postgres',
      address: `127.1.30.${index + 1}`,
      state: 'ready',
      role,
      version: '15.18',
      lagBytes: undefined,
      certificateExpires: undefined,
      restarts: 0,
      problem: undefined,
      lastError: undefined,
      disk: undefined,
    }),
  )
  const primary = machines.find(({ role }) => role === 'primary')
  return {
    stack: 'lab',
    file: 'stack.yaml',
    directory: '/lab',
    state: 'ready',
    isReady: true,
    stoppedAt: undefined,
    problems: [],
    clusters: [],
    isSupervised: true,
    unreadHypervisors: [],
    supervisorPid: 1,
    machines,
    names: [{ name: 'primary.pg.lab.test', addresses: primary === undefined ? [] : [primary.address] }],
    examples: [],
    ...more,
  }
}

const before = status({ 'postgres-1': 'primary', 'postgres-2': 'sync standby' })
const after = status({ 'postgres-1': 'replica', 'postgres-2': 'primary' })

test('the table is painted in place, and stays at the end', () => {
  const terminal = new Terminal(60, 20)
  terminal.write('$ holdfast status --watch\n')
  const view = new LiveStatus({ env: {} }, terminal)
  view.show(before)
  view.show(after)
  const table = [
    '$ holdfast status --watch',
    'lab: ready, 2 machines',
    '',
    'MACHINE     ADDRESS     ROLE     STATE  VERSION',
    'postgres-1  127.1.30.1  replica  ready  15.18',
    'postgres-2  127.1.30.2  primary  ready  15.18',
    '',
    'NAME                 ANSWER',
    'primary.pg.lab.test  127.1.30.2',
  ]
  expect(terminal.everything).toEqual([...table, '', 'Ctrl-C to exit; lab keeps running'])
  expect(terminal.isCursorVisible).toBe(false)
  view.close()
  expect(terminal.everything).toEqual(table)
  expect(terminal.isCursorVisible).toBe(true)
})

test('a row that changed stands out for some seconds', () => {
  const terminal = new Terminal(60, 20)
  const view = new LiveStatus({ env: {} }, terminal)
  view.show(before)
  expect(terminal.lastWrite).not.toContain('\u001b[7m')
  view.show(after)
  expect(terminal.lastWrite).toContain('\u001b[7mpostgres-2')
  vi.advanceTimersByTime(3000)
  expect(terminal.lastWrite).toContain('\u001b[7mpostgres-2')
  vi.advanceTimersByTime(3000)
  expect(terminal.lastWrite).not.toContain('\u001b[7m')
  view.close()
})

test('it follows the size of the terminal', () => {
  const many = status(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`postgres-${index}`, 'replica'])))
  const terminal = new Terminal(80, 30)
  const view = new LiveStatus({ env: {} }, terminal)
  view.show(many)
  expect(terminal.screen).toHaveLength(29)
  terminal.resize(40, 12)
  expect(terminal.screen).toEqual([
    'lab: ready, 50 machines',
    '',
    'MACHINE     ADDRESS     ROLE     STATE',
    'postgres-0  127.1.30.1  replica  ready',
    'postgres-1  127.1.30.2  replica  ready',
    '… and 48 more: 48 ready',
    '',
    'NAME                 ANSWER',
    'primary.pg.lab.test  no answer',
    '',
    'Ctrl-C to exit; lab keeps running',
  ])
  view.close()
})

test('elsewhere there is the table once, and then a line for each change', () => {
  const terminal = Object.assign(new Terminal(120), { isTTY: false })
  const view = new LiveStatus({ env: {} }, terminal)
  view.show(before)
  const shown = terminal.everything.length
  view.show(before)
  vi.advanceTimersByTime(2000)
  view.show(after)
  const [first, second] = after.machines
  const at = new Date().toISOString()
  const error = { at, service: 'patroni', kind: 'exited', exitCode: 137, message: 'exit code 137' } as const
  view.show({
    ...after,
    state: 'down',
    isReady: false,
    problems: ['postgres: 1 of 2 members', 'etcd: no leader'],
    machines: [
      { ...first, state: 'down', role: undefined, restarts: 1, lastError: error, problem: 'no leader' },
      second,
    ],
  })
  view.show({ ...after, machines: [second, { ...first, machine: 'postgres-3' }] })
  view.close()
  expect(terminal.everything.slice(shown)).toEqual([
    '12:03:06 postgres-1: primary → replica',
    '12:03:06 postgres-2: sync standby → primary',
    '12:03:06 primary.pg.lab.test: 127.1.30.1 → 127.1.30.2',
    '12:03:06 postgres-1: ready → down, restarted by itself, 1 so far, patroni: exit code 137, no leader',
    '12:03:06 lab: down: postgres: 1 of 2 members, etcd: no leader',
    '12:03:06 postgres-3: added',
    '12:03:06 postgres-1: removed',
    '12:03:06 lab: ready',
  ])
})

test('the lines to try stand above the table, once', () => {
  const terminal = new Terminal(30, 20)
  const view = new LiveStatus({ env: {} }, terminal, { examples: true })
  const command = 'dig @127.1.20.1 primary.pg.lab.test'
  view.show({ ...before, examples: [{ purpose: 'names', command }] })
  view.show({ ...after, examples: [{ purpose: 'names', command }] })
  view.close()
  expect(terminal.screen.slice(0, 4)).toEqual([
    'names  dig @127.1.20.1 primary',
    '.pg.lab.test',
    '',
    'lab: ready, 2 machines',
  ])
})

test('a stack is read again and again until the signal', async () => {
  vi.useRealTimers()
  const terminal = new Terminal(60, 20)
  const stop = new AbortController()
  let reads = 0
  const stack = { status: async () => (++reads === 1 ? before : after) }
  const watching = watchStatus(stack, { env: {}, stdout: terminal }, stop.signal)
  await vi.waitFor(() => expect(terminal.screen.join('\n')).toMatch(/postgres-2 .* primary/u), 60_000)
  stop.abort()
  await watching
  expect(reads).toBe(2)
  expect(terminal.isCursorVisible).toBe(true)
  expect(terminal.screen.at(-1)).toBe('primary.pg.lab.test  127.1.30.2')
})

test('a failure to read ends it and shows the cursor, unless it was told to end', async () => {
  const terminal = new Terminal()
  const io = { env: {}, stdout: terminal }
  const fail = () => Promise.reject(new Error('Cannot read'))
  await expect(watchStatus({ status: fail }, io, new AbortController().signal)).rejects.toThrow('Cannot read')
  expect(terminal.isCursorVisible).toBe(true)
  const stop = new AbortController()
  const interrupted = async () => {
    stop.abort()
    return fail()
  }
  await expect(watchStatus({ status: interrupted }, io, stop.signal)).resolves.toBeUndefined()
})
