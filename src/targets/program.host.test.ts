import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { installProgram, programCommand, pruneProgram } from './program.ts'
import { type Program, runningProgram } from './program-parts.ts'

const isRoot = process.getuid?.() === 0

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-program-'))
  chmodSync(directory, 0o711)
})
afterEach(() => rmSync(directory, { recursive: true }))

function write(path: string, text: string): string {
  const file = join(directory, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

/** A program that says which packages it got; `dist` as it is published, below node_modules. */
function smallProgram(code: 'src' | 'dist'): Program {
  const root = code === 'src' ? 'clone' : 'app/node_modules/holdfast'
  const modules = code === 'src' ? 'clone/node_modules' : 'app/node_modules'
  const manifest = (name: string, more: object) => JSON.stringify({ name, version: '1.0.0', type: 'module', ...more })
  const say = 'export const said = '
  write(
    `${root}/package.json`,
    manifest('holdfast', { dependencies: { a: '*', b: '*' }, optionalDependencies: { c: '*' } }),
  )
  write(`${root}/${code}/main.${code === 'src' ? 'ts' : 'js'}`, `import { said } from 'a'\nconsole.log(said)\n`)
  write(`${root}/${code}/main.test.ts`, '')
  write(`${modules}/a/package.json`, manifest('a', { exports: './a.js', dependencies: { b: '*' } }))
  write(`${modules}/a/a.js`, `import { said as b } from 'b'\n${say}\`a with \${b}\`\n`)
  write(`${modules}/a/a.d.ts`, '')
  write(`${modules}/a/node_modules/b/package.json`, manifest('b', { exports: './b.js', version: '2.0.0' }))
  write(`${modules}/a/node_modules/b/b.js`, `${say}'b 2'\n`)
  write(`${modules}/b/package.json`, manifest('b', { exports: './b.js' }))
  write(`${modules}/b/b.js`, `${say}'b 1'\n`)
  return { root: join(directory, root), code, node: process.execPath }
}

function run(command: readonly string[], ...args: readonly string[]): string {
  const [program, ...first] = command
  return execFileSync(program, [...first, ...args], { encoding: 'utf8', cwd: '/', env: {} })
}

function installed(): string[] {
  return readdirSync(join(directory, 'program'))
}

function nameOf([node]: readonly string[]): string {
  return basename(dirname(node))
}

test('our own program is copied whole: any user can run it, wherever the original lies', async () => {
  const clone = join(directory, 'clone')
  const { root, code, node } = runningProgram()
  mkdirSync(clone)
  cpSync(join(root, code), join(clone, code), { recursive: true })
  cpSync(join(root, 'package.json'), join(clone, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
  const command = await installProgram(directory, { root: clone, code, node })
  rmSync(clone, { recursive: true })
  const asNobody = isRoot ? ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'] : []
  expect(run([...asNobody, ...command], '--version')).toMatch(/^holdfast \d+\.\d+\.\d+ \(node 24\./u)
  const zones = write('zones/db.example.test', '$TTL 60\n@ SOA ns host 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n')
  chmodSync(dirname(zones), 0o755)
  chmodSync(zones, 0o644)
  expect(run([...asNobody, ...command], 'zone', 'check', zones)).toContain('example.test')
})

test('it has what it needs and no more, readable for all and writable for nobody else', async () => {
  const before = process.umask(0o077)
  const [node, main] = await installProgram(directory).finally(() => process.umask(before))
  const root = dirname(node)
  expect(main).toBe(join(root, 'src/main.ts'))
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  expect(paths.filter((path) => /\.(?:test|d)\.[cm]?ts$|\.map$|\.md$/u.test(path))).toEqual([])
  expect(existsSync(join(root, 'node_modules/vitest'))).toBe(false)
  expect(existsSync(join(root, 'node_modules/zod/index.js'))).toBe(true)
  for (const path of [root, ...entries.map(({ parentPath, name }) => join(parentPath, name))]) {
    const { mode } = statSync(path)
    expect({ path, readable: mode & 0o044, writable: mode & 0o022 }).toEqual({ path, readable: 0o044, writable: 0 })
  }
})

test('packages of different versions find theirs', async () => {
  expect(run(await installProgram(directory, smallProgram('src')))).toBe('a with b 2\n')
  expect(run(await installProgram(directory, smallProgram('dist')))).toBe('a with b 2\n')
})

test('the same program is there once, another one beside it', async () => {
  const program = smallProgram('src')
  const wanted = programCommand(directory, program)
  expect(existsSync(join(directory, 'program'))).toBe(false)
  const first = await installProgram(directory, program)
  expect(first).toEqual(wanted)
  expect(await Promise.all([installProgram(directory, program), installProgram(directory, program)])).toEqual([
    first,
    first,
  ])
  expect(await installProgram(directory, { ...program, root: dirname(first[0]) })).toEqual(first)
  write('clone/src/more.ts', '')
  const second = await installProgram(directory, program)
  expect(second).not.toEqual(first)
  expect(new Set(installed())).toEqual(new Set([first, second].map(nameOf)))
})

test('what is changed in the original later does not reach the copy', async () => {
  const program = smallProgram('src')
  const command = await installProgram(directory, program)
  writeFileSync(join(program.root, 'src/main.ts'), 'throw 1')
  rmSync(join(program.root, 'node_modules'), { recursive: true })
  expect(run(command)).toBe('a with b 2\n')
})

test('a copy that has lost something is made anew', async () => {
  const program = smallProgram('src')
  const command = await installProgram(directory, program)
  truncateSync(command[1])
  expect(await installProgram(directory, program)).toEqual(command)
  expect(run(command)).toBe('a with b 2\n')
})

test.runIf(isRoot)('root does not share files with others who could change them', async () => {
  const program = smallProgram('src')
  const file = join(program.root, 'node_modules/a/a.js')
  chownSync(file, 65_534, 65_534)
  const [node] = await installProgram(directory, program)
  const copy = statSync(join(dirname(node), 'node_modules/a/a.js'))
  expect({ uid: copy.uid, links: copy.nlink }).toEqual({ uid: 0, links: 1 })
  expect(copy.ino).not.toBe(statSync(file).ino)
})

test('a package that is missing is told', async () => {
  const program = smallProgram('src')
  rmSync(join(program.root, 'node_modules/b'), { recursive: true })
  await expect(installProgram(directory, program)).rejects.toThrow(
    expect.objectContaining({
      code: 'PackageMissing',
      message: `Cannot copy the program: the package "b" is not installed; run "npm ci" in ${program.root}`,
    }),
  )
})

test('old copies go when neither a service nor a running process uses them', async () => {
  const program = smallProgram('src')
  const kept = await installProgram(directory, program)
  write('clone/src/main.ts', 'setInterval(() => {}, 1000)\nconsole.log("runs")\n')
  const running = await installProgram(directory, program)
  write('clone/src/main.ts', '')
  await installProgram(directory, program)
  mkdirSync(join(directory, 'program/.new-recent'))
  mkdirSync(join(directory, 'program/.new-abandoned'))
  utimesSync(join(directory, 'program/.new-abandoned'), 0, 0)
  const child = spawn(running[0], running.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  try {
    await once(child.stdout, 'data')
    pruneProgram(directory, kept)
    expect(new Set(installed())).toEqual(new Set(['.new-recent', nameOf(kept), nameOf(running)]))
  } finally {
    child.kill('SIGKILL')
    await exited
  }
  pruneProgram(directory, [])
  expect(installed()).toEqual(['.new-recent'])
  pruneProgram(join(directory, 'nothing'), [])
  expect(readFileSync(join(program.root, 'src/main.ts'), 'utf8')).toBe('')
})
