// What other users of the host may try, those of services included: they get nothing run as root, pose as nobody, and
// hold up no command.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { rootOf } from '../../src/targets/local/layout.ts'
import { supervisedDirectories } from '../../src/targets/local/supervised-directories.ts'
import { findKeeper, findSupervisor } from '../../src/targets/local/supervisor/keeper.ts'
import { commandOf, readProcess, userOf } from '../../src/targets/local/supervisor/process-table.ts'
import { file, isRoot, LocalStack, machine, service } from '../support/local-stack.ts'
import { until } from '../support/until.ts'

/** Who services run as (`nobody`), and somebody who has nothing to do with them. */
const SERVICE_UID = 65_534
const OTHER_UID = 65_533

let stack: LocalStack
let others: ChildProcess[]
beforeEach(() => {
  stack = new LocalStack()
  others = []
})
afterEach(async () => {
  for (const each of others) {
    const exit = once(each, 'exit')
    if (each.kill('SIGKILL')) await exit
  }
  await stack.close()
})

describe.runIf(isRoot)('another user', () => {
  test('who writes the environment of a service chooses nothing that root runs', async () => {
    const bin = join(stack.directory, 'bin')
    const ran = join(stack.directory, 'ran')
    mkdirSync(bin)
    chmodSync(bin, 0o755)
    writeFileSync(ran, '')
    chmodSync(ran, 0o666)
    for (const name of ['sh', 'setpriv', 'env']) {
      writeFileSync(join(bin, name), `#!/bin/sh\n/usr/bin/id -u >>${ran}\nexec /usr/bin/sleep 1000\n`)
      chmodSync(join(bin, name), 0o755)
    }
    // The loader of programs complains once for each program that it starts with this.
    const text = `PATH=${bin}\nLD_PRELOAD=/no/such/library.so\n`
    const taken = service('a', 'true', { environmentFiles: ['/etc/env'] })
    await stack.up(machine('m', [taken], { files: [file('/etc/env', text)] }))
    await until('its start', () => readFileSync(ran, 'utf8') !== '')
    expect(readFileSync(ran, 'utf8')).toBe(`${SERVICE_UID}\n`)
  })

  test('has no process taken for a service, or for one that is being started', async () => {
    const made = machine('m', [service('a', 'exec sleep 1000')])
    await stack.up(made)
    const pid = await stack.running('m', 'a')
    await stack.target.shutdown()
    process.kill(pid, 'SIGKILL')
    await until('its end', () => readProcess(pid) === undefined)
    const marks = { HOLDFAST_ROOT: rootOf(stack.layout, 'm'), HOLDFAST_SERVICE: 'a' }
    const pretenders = [
      await start(OTHER_UID, ['sleep', '2000'], marks),
      // As a program that everybody may run with the rights of root.
      await start(0, ['sleep', '2000'], marks),
    ]
    await stack.target.start(made)
    const next = await stack.running('m', 'a', pid)
    expect(pretenders).not.toContain(next)
    await until('the service itself', () => commandOf(next).join(' ') === 'sleep 1000')
    expect(userOf(next)).toBe(SERVICE_UID)
  })

  test('is no supervisor, whatever the words of the process are', async () => {
    const directory = join(stack.directory, 'squatted')
    await start(OTHER_UID, ['tail', '-f', '/dev/null', 'supervise', directory])
    expect(supervisedDirectories()).not.toContain(directory)
  })

  test('who was given the process id of a supervisor or keeper that is gone is not taken for it', async () => {
    mkdirSync(stack.layout.supervisor, { mode: 0o700 })
    const { directory, keeperLock, keeperPid } = stack.layout
    const words = ['sh', '-c', 'sleep 2000; :', 'holdfast-keeper', keeperLock, '', '', 'supervise', directory]
    const pid = await start(OTHER_UID, words)
    for (const path of [stack.layout.pid, keeperPid]) writeFileSync(path, `${pid}\n`)
    expect(findSupervisor(stack.layout)).toBeUndefined()
    expect(findKeeper(stack.layout)).toBeUndefined()
    await stack.target.shutdown()
    expect(readProcess(pid)).toBeDefined()
  })
})

test('a supervisor is found by its process, as long as it runs', async () => {
  const made = machine('m', [service('a', 'exec sleep 1000')])
  await stack.up(made)
  expect(supervisedDirectories()).toContain(stack.directory)
  await stack.target.remove('m', { keepData: false })
  await stack.target.shutdown()
  expect(supervisedDirectories()).not.toContain(stack.directory)
  expect(existsSync(stack.layout.pid)).toBe(false)
})

/** The process id of a program that runs as that user. */
async function start(
  uid: number,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const as = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--']
  const child = spawn('setpriv', [...as, ...command], {
    stdio: 'ignore',
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', ...env },
  })
  others.push(child)
  const pid = child.pid ?? 0
  await until('its own words', () => commandOf(pid)[0] === command[0])
  return pid
}
