import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withLock } from './lock.ts'

const isRoot = process.getuid?.() === 0
const NOBODY = 65_534

let state: string
let directory: string
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'holdfast-lock-'))
  chmodSync(state, 0o711)
  directory = join(state, 'stacks/lab')
})
afterEach(() => rmSync(state, { recursive: true, force: true }))

const refused = () =>
  expect(withLock(directory, async () => 'done')).rejects.toThrow(
    expect.objectContaining({
      code: 'StackLocked',
      message: `Cannot change the stack in "${directory}": another command is changing it just now; wait for it to end`,
    }),
  )

test('one at a time has the lock, and gives it back however its work ends', async () => {
  const failing = withLock(directory, async () => {
    await refused()
    throw new Error('failed')
  })
  await expect(failing).rejects.toThrow('failed')
  expect(await withLock(directory, async () => 'done')).toBe('done')
})

test('the lock of a process that is killed is free', async () => {
  mkdirSync(directory, { recursive: true })
  const program = `
    import { withLock } from '${join(import.meta.dirname, 'lock.ts')}'
    await withLock('${directory}', async () => {
      console.log('locked')
      await new Promise((resolve) => setTimeout(resolve, 1_000_000))
    })`
  const node = [process.execPath, '--input-type=module-typescript', '--eval', program]
  const child = spawn(node[0], node.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  try {
    await once(child.stdout, 'data')
    await refused()
  } finally {
    child.kill('SIGKILL')
    await exited
  }
  expect(await withLock(directory, async () => 'done')).toBe('done')
})

test('it is held until its directory is gone, and there for the next one', async () => {
  await withLock(directory, async () => {
    writeFileSync(join(directory, 'secret'), '')
    await refused()
    rmSync(directory, { recursive: true })
    await withLock(directory, async () => {
      writeFileSync(join(directory, 'secret'), '')
      await refused()
    })
  })
  expect(readdirSync(directory)).toEqual(['secret'])
})

test('where nothing came of it, nothing is left', async () => {
  await withLock(directory, async () => expect(existsSync(directory)).toBe(true))
  expect(readdirSync(state)).toEqual([])
})

test('a directory that cannot be made is told', async () => {
  writeFileSync(join(state, 'stacks'), '')
  await expect(withLock(directory, async () => undefined)).rejects.toThrow(
    expect.objectContaining({ code: 'FileUnwritable', message: `Cannot write "${directory}": not a directory` }),
  )
})

test('a name in the host that others can take does not matter', async () => {
  const name = createHash('sha256').update(directory).digest('hex')
  const server = createServer().listen(`\0holdfast-${name}`)
  await once(server, 'listening')
  try {
    expect(await withLock(directory, async () => 'done')).toBe('done')
  } finally {
    server.close()
  }
})

test.runIf(isRoot)('a stack of another user is left alone, also by root', async () => {
  mkdirSync(directory, { recursive: true })
  chownSync(directory, NOBODY, NOBODY)
  await expect(withLock(directory, async () => undefined)).rejects.toThrow(
    expect.objectContaining({
      code: 'FileUnwritable',
      message: `Cannot change the stack in "${directory}": it belongs to user "nobody"`,
      hint: 'run the command as "nobody", or choose another directory with --state',
    }),
  )
})

test.runIf(isRoot)('no other user can take it', async () => {
  mkdirSync(directory, { recursive: true, mode: 0o755 })
  chmodSync(directory, 0o755)
  await withLock(directory, async () => expect(statSync(directory).mode & 0o777).toBe(0o711))
  const as = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', 'flock', '--nonblock', directory, 'true']
  await expect(promisify(execFile)('setpriv', as)).rejects.toThrow('Permission denied')
})
