import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { until } from '../../test/support/until.ts'
import { capture, exec, type ProcessEnd } from './exec.ts'

const never = new AbortController().signal

async function run(
  command: readonly string[],
  { timeoutMs = 10_000, signal = never } = {},
): Promise<ProcessEnd & { lines: string[] }> {
  const lines: string[] = []
  const { PATH } = process.env
  const { code, reason, isMissing } = await exec(command, {
    timeoutMs,
    signal,
    env: { PATH, GREETING: 'hello' },
    onLine: (line) => lines.push(line),
  })
  return { code, reason, isMissing, lines }
}

test('a program that succeeds has no reason, and its output comes in lines', async () => {
  const { reason, lines } = await run(['sh', '-c', 'echo one; echo "zwölf"; printf end'])
  expect(reason).toBeUndefined()
  expect(lines).toEqual(['one', 'zwölf', 'end'])
})

test('what it prints as an error is a line too', async () => {
  expect((await run(['sh', '-c', 'echo wrong >&2; exit 3'])).lines).toEqual(['wrong'])
})

test.each([
  [['sh', '-c', 'exit 3'], { code: 3, reason: 'exit code 3', isMissing: false }],
  [['sh', '-c', 'kill -9 $$'], { code: undefined, reason: 'ended by SIGKILL', isMissing: false }],
  [['/no/such/program'], { code: undefined, reason: 'no such file or directory', isMissing: true }],
  [[import.meta.filename], { code: undefined, reason: 'permission denied', isMissing: false }],
])('%j failed with: %j', async (command, expected) => {
  expect(await run(command)).toMatchObject(expected)
})

test('it gets the environment it is given and nothing of ours', async () => {
  const { lines } = await run(['env'])
  expect(lines.map((line) => line.split('=', 1)[0]).toSorted()).toEqual(['GREETING', 'PATH'])
})

test('no shell reads the words', async () => {
  expect((await run(['echo', '$HOME; `id` *'])).lines).toEqual(['$HOME; `id` *'])
})

test('a program that takes too long is ended, and so is what it started', async () => {
  const { reason, lines } = await run(['sh', '-c', 'sleep 1000 & echo $!; wait'], { timeoutMs: 300 })
  expect(reason).toBe('not ended after 0.3 s')
  await until('the end of its child', () => !isRunning(Number(lines[0])))
})

test('a program that ignores being asked is ended all the same', async () => {
  const { reason } = await run(['sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done'], { timeoutMs: 100 })
  expect(reason).toBe('not ended after 0.1 s')
})

test('whoever started it can stop it', async () => {
  const controller = new AbortController()
  const running = run(['sleep', '1000'], { signal: controller.signal })
  controller.abort()
  expect((await running).reason).toBe('it was stopped')
  expect((await run(['true'], { signal: controller.signal })).reason).toBe('it was not started any more')
})

test('a child left behind with its output open is not waited for', async () => {
  const { reason, lines } = await run(['sh', '-c', 'sleep 1000 & echo $!'])
  expect(reason).toBeUndefined()
  process.kill(Number(lines[0]))
})

function captured(words: readonly string[], more: { input?: Uint8Array; maxBytes?: number; timeoutMs?: number } = {}) {
  const { PATH } = process.env
  return capture(words, { timeoutMs: 10_000, signal: never, env: { PATH }, ...more })
}

test('captured output and errors are kept apart, byte for byte', async () => {
  const { code, reason, stdout, stderr } = await captured([
    'sh',
    '-c',
    String.raw`printf '\377\0x'; echo no >&2; exit 3`,
  ])
  expect({ code, reason, stderr }).toEqual({ code: 3, reason: 'exit code 3', stderr: 'no\n' })
  expect([...stdout]).toEqual([255, 0, 120])
})

test('a captured program reads the input it is given, whole', async () => {
  const input = Buffer.alloc(3_000_000, 'abc')
  const { code, stdout } = await captured(['cat'], { input })
  expect(code).toBe(0)
  expect(stdout.equals(input)).toBe(true)
  expect((await captured(['cat'])).stdout.length).toBe(0)
})

test('a captured program need not read its input', async () => {
  const ended = await captured(['sh', '-c', 'exec <&-; exit 4'], { input: Buffer.alloc(3_000_000) })
  expect(ended.code).toBe(4)
})

test('a captured program that prints too much is ended', async () => {
  const { code, reason, stdout } = await captured(['cat', '/dev/zero'], { maxBytes: 100_000 })
  expect({ code, reason }).toEqual({ code: undefined, reason: 'it printed more than 100000 bytes' })
  expect(stdout.length).toBeLessThanOrEqual(100_000)
})

test('a captured program has no exit code when it did not end by itself', async () => {
  expect(await captured(['sleep', '1000'], { timeoutMs: 100 })).toMatchObject({
    code: undefined,
    reason: 'not ended after 0.1 s',
  })
  expect(await captured(['/no/such/program'], { input: Buffer.from('x') })).toMatchObject({
    code: undefined,
    isMissing: true,
  })
  const { PATH } = process.env
  expect(await capture(['true'], { timeoutMs: 1000, signal: AbortSignal.abort(), env: { PATH } })).toMatchObject({
    code: undefined,
    reason: 'it was not started any more',
  })
})

/** A process that has ended may wait to be collected by its parent: a zombie, Z. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/mu.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
