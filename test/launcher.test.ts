// bin/holdfast in the layouts it meets: a checkout, an installed package, hosts with an old Node, a new one, none.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const pinned = `node-linux-${process.arch}`
const MAIN = `process.stdout.write(JSON.stringify([process.version, process.pid, ...process.argv.slice(2)]) + '\\n')\n`

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-launcher-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function write(path: string, text: string): string {
  const file = join(directory, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, 0o755)
  return file
}

function installLauncher(packageDirectory: string): string {
  const launcher = write(join(packageDirectory, 'bin/holdfast'), '')
  copyFileSync(join(root, 'bin/holdfast'), launcher)
  return launcher
}

function installNode(modules: string): void {
  mkdirSync(join(directory, modules), { recursive: true })
  symlinkSync(join(root, 'node_modules', pinned), join(directory, modules, pinned))
}

function run(launcher: string, args: readonly string[] = [], path = '/usr/bin:/bin') {
  return spawnSync(launcher, args, { encoding: 'utf8', env: { PATH: path }, cwd: '/' })
}

test('a checkout runs its TypeScript on the pinned Node, without a warning', () => {
  const launcher = installLauncher('checkout')
  installNode('checkout/node_modules')
  write('checkout/package.json', '{ "type": "module" }')
  write('checkout/src/main.ts', `const typed: number = 1\n${MAIN}`)
  const { stdout, stderr, status } = run(launcher, ['two words', '--flag=ä'])
  expect(stderr).toBe('')
  const [version, , ...args] = JSON.parse(stdout) as string[]
  expect(version).toMatch(/^v24\./u)
  expect(args).toEqual(['two words', '--flag=ä'])
  expect(status).toBe(0)
})

test('an installed package runs dist/ on a Node beside it, through the link npm makes', () => {
  installLauncher('app/node_modules/holdfast')
  installNode('app/node_modules')
  write('app/node_modules/holdfast/package.json', '{ "type": "module" }')
  write('app/node_modules/holdfast/dist/main.js', MAIN)
  mkdirSync(join(directory, 'app/node_modules/.bin'))
  const link = join(directory, 'app/node_modules/.bin/holdfast')
  symlinkSync('../holdfast/bin/holdfast', link)
  const { stdout, stderr } = run(link, ['--version'])
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual([expect.stringMatching(/^v24\./u), expect.any(Number), '--version'])
})

test('exit code, process id and signals are those of the program', async () => {
  const launcher = installLauncher('checkout')
  installNode('checkout/node_modules')
  write('checkout/package.json', '{ "type": "module" }')
  write('checkout/src/main.ts', `process.on('SIGTERM', () => process.exit(7))\nsetInterval(() => {}, 1000)\n${MAIN}`)
  const child = spawn(launcher, [], { env: { PATH: '/usr/bin:/bin' } })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const [, pid] = JSON.parse(line.toString()) as [string, number]
  expect(pid).toBe(child.pid)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([7, null])
})

test('without the pinned Node a new enough one of the host serves', () => {
  const launcher = installLauncher('checkout')
  write('checkout/src/main.ts', MAIN)
  write('host/node', '#!/bin/sh\n[ "$1" != --version ] || { echo v26.1.0; exit; }\necho "host node runs $*"\n')
  const { stdout, status } = run(launcher, ['dns'], `${join(directory, 'host')}:/usr/bin:/bin`)
  expect(stdout).toBe(`host node runs ${join(directory, 'checkout/src/main.ts')} dns\n`)
  expect(status).toBe(0)
})

test('without any usable Node it says what is there and what is wanted', () => {
  const launcher = installLauncher('checkout')
  write('host/node', '#!/bin/sh\necho v20.19.0\n')
  const { stderr, status } = run(launcher, [], `${join(directory, 'host')}:/usr/bin:/bin`)
  expect(stderr).toContain(
    'Cannot start: node on this host is v20.19.0 and the pinned one is not installed; expected Node 24 or newer',
  )
  expect(status).toBe(1)
})

test('a pinned Node that does not start here is passed over', () => {
  const launcher = installLauncher('checkout')
  write(`checkout/node_modules/${pinned}/bin/node`, '#!/no/such/loader\n')
  write('host/node', '#!/bin/sh\necho v18.0.0\n')
  const { stderr, status } = run(launcher, [], `${join(directory, 'host')}:/usr/bin:/bin`)
  expect(stderr).toContain('node on this host is v18.0.0')
  expect(status).toBe(1)
})
