import { closeSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type DaemonEnd, startDaemon } from './daemon.ts'

let directory: string
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-daemon-')))
})
afterEach(() => rmSync(directory, { recursive: true }))

async function run(command: readonly string[]): Promise<{ pid: number | undefined; end: DaemonEnd; output: string }> {
  const path = join(directory, 'output')
  const output = openSync(path, 'a')
  const { promise, resolve } = Promise.withResolvers<DaemonEnd>()
  const env = { PATH: '/usr/bin:/bin', GREETING: 'hello' }
  const pid = startDaemon(command, { cwd: directory, env, output, onEnd: resolve })
  closeSync(output)
  return { pid, end: await promise, output: readFileSync(path, 'utf8') }
}

test('it gets a session, a directory and an environment of its own, and its output goes to the file', async () => {
  const script = 'cut -d" " -f6 /proc/$$/stat; pwd; echo $GREETING $HOME; readlink /proc/$$/fd/0; echo wrong >&2'
  const { pid, end, output } = await run(['sh', '-c', script])
  expect(output).toBe(`${pid}\n${directory}\nhello\n/dev/null\nwrong\n`)
  expect(end).toEqual({ exitCode: 0 })
})

test.each<[readonly string[], DaemonEnd]>([
  [['sh', '-c', 'exit 3'], { exitCode: 3 }],
  [['sh', '-c', 'kill -9 $$'], { signal: 'SIGKILL' }],
  [['/no/such/program'], { problem: '/no/such/program: no such file or directory' }],
])('%j ended with %j', async (command, end) => {
  expect((await run(command)).end).toEqual(end)
})
