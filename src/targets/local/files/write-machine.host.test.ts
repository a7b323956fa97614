import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { execFileSync } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { file, isRoot, LocalStack, machine, service } from '../../../../test/support/local-stack.ts'
import { rootOf } from '../layout.ts'
import { LocalTarget } from '../local-target.ts'
import { stateFile } from '../state-file.ts'

let stack: LocalStack
let root: string
beforeEach(() => {
  stack = new LocalStack()
  root = rootOf(stack.layout, 'm')
})
afterEach(() => stack.close())

const made = (text = 'one\n') => machine('m', [], { files: [file('/etc/app/app.conf', text)] })
const path = () => join(root, 'etc/app/app.conf')

test('what is as it should be is not touched', async () => {
  await stack.target.write(made())
  const { ino, ctimeMs } = statSync(path())
  await stack.target.write(made())
  expect(statSync(path())).toMatchObject({ ino, ctimeMs })
})

test('a file is replaced as a whole, and nothing is left over', async () => {
  await stack.target.write(made())
  const before = statSync(path())
  await stack.target.write(made('two\n'))
  expect(statSync(path()).ino).not.toBe(before.ino)
  expect(readFileSync(path(), 'utf8')).toBe('two\n')
  expect(readdirSync(join(root, 'etc/app'))).toEqual(['app.conf'])
  expect(readdirSync(stack.layout.staging)).toEqual([])
})

test('others can pass, whatever the umask is, and cannot read what is kept about machines', async () => {
  const umask = process.umask(0o077)
  try {
    await stack.target.write(made())
  } finally {
    process.umask(umask)
  }
  const modeOf = (at: string) => statSync(at).mode & 0o777
  expect([stack.layout.machines, root, join(root, 'etc')].map(modeOf)).toEqual([0o711, 0o711, 0o755])
  expect(modeOf(path())).toBe(0o644)
  expect([stack.layout.manifests, stack.layout.staging, join(root, 'log')].map(modeOf)).toEqual([0o700, 0o700, 0o700])
  expect(modeOf(stateFile(stack.layout.manifests, 'm'))).toBe(0o600)
})

describe('a symbolic link that somebody has put in the way is refused, and what it points to stays as it is', () => {
  let outside: string
  beforeEach(async () => {
    await stack.target.write(made())
    outside = join(stack.directory, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'app.conf'), 'precious')
  })

  const refused = { code: 'MachineTampered', message: expect.stringContaining('it is a symbolic link') }
  const isUntouched = () => {
    expect(readdirSync(outside)).toEqual(['app.conf'])
    expect(readFileSync(join(outside, 'app.conf'), 'utf8')).toBe('precious')
  }

  test('in place of a directory', async () => {
    renameSync(join(root, 'etc/app'), join(root, 'etc/moved'))
    symlinkSync(outside, join(root, 'etc/app'))
    await expect(stack.target.write(made('two\n'))).rejects.toMatchObject(refused)
    await expect(stack.target.read()).rejects.toMatchObject(refused)
    isUntouched()
  })

  test('in place of a file', async () => {
    rmSync(path())
    symlinkSync(join(outside, 'app.conf'), path())
    await expect(stack.target.write(made('two\n'))).rejects.toMatchObject(refused)
    await expect(stack.target.read()).rejects.toMatchObject(refused)
    isUntouched()
  })

  test('and removing the machine removes the link only', async () => {
    renameSync(join(root, 'etc/app'), join(root, 'etc/moved'))
    symlinkSync(outside, join(root, 'etc/app'))
    await stack.target.remove('m', { keepData: false })
    expect(existsSync(root)).toBe(false)
    isUntouched()
  })
})

test('what is no file is not waited for', async () => {
  await stack.target.write(made())
  rmSync(path())
  execFileSync('mkfifo', [path()])
  await expect(stack.target.read()).rejects.toMatchObject({
    code: 'MachineTampered',
    message: `Cannot use "${path()}": it is a pipe, a socket or a device; expected a regular file there`,
  })
})

test('what is too big to be a file of ours is not read', async () => {
  await stack.target.write(made())
  truncateSync(path(), 3 * 2 ** 30)
  await expect(stack.target.read()).rejects.toMatchObject({
    code: 'MachineTampered',
    message: `Cannot use "${path()}": it has 3221225472 bytes; expected a file of Holdfast there`,
  })
})

test('a path that leads out of the machine is refused', async () => {
  const leading = machine('m', [], { files: [file('/../outside', 'x')] })
  await expect(stack.target.write(leading)).rejects.toThrow('no path in a machine')
})

test.skipIf(!isRoot)('an unknown user is told before anything is made', async () => {
  const other = machine('m', [service('a', 'true', { user: 'no-such-user' })], { files: [file('/etc/x', 'x')] })
  await expect(stack.target.write(other)).rejects.toMatchObject({
    code: 'NoSuchUser',
    message: 'Cannot make the machine "m": there is no user "no-such-user" on this host',
  })
  expect(existsSync(root)).toBe(false)
})

test.skipIf(!isRoot)('a directory that users of services cannot pass is told before anything is made', async () => {
  const closed = join(stack.directory, 'closed')
  mkdirSync(closed)
  chmodSync(closed, 0o700)
  const target = new LocalTarget({ directory: join(closed, 'stack'), isRoot, program: [] })
  await expect(target.write(made())).rejects.toMatchObject({ code: 'StateUnreachable' })
  expect(readdirSync(closed)).toEqual([])
})

test('a damaged manifest is told, and mended by removing it', async () => {
  await stack.target.write(made())
  const manifest = stateFile(stack.layout.manifests, 'm')
  writeFileSync(manifest, '{')
  await expect(stack.target.read()).rejects.toMatchObject({
    code: 'LocalStateInvalid',
    hint: expect.stringContaining('remove it'),
  })
  rmSync(manifest)
  expect(await stack.target.read()).toEqual(new Map())
  await stack.target.write(made())
  expect((await stack.target.read()).get('m')?.files.size).toBe(1)
})
