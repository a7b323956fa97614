// The target without the rights of root: everything runs as the user who asks, and owners are taken as said.

import { execFile } from 'node:child_process'
import { chownSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isRoot, LocalStack, machine, service, SUPERVISE, file } from '../support/local-stack.ts'

let stack: LocalStack
beforeEach(() => {
  stack = new LocalStack()
})
afterEach(() => stack.close())

const NOBODY = 65_534
const TARGET = join(import.meta.dirname, '../../src/targets/local/local-target.ts')

test.skipIf(!isRoot)('a stack of a user who is not root', async () => {
  chownSync(stack.directory, NOBODY, NOBODY)
  const made = machine(
    'm',
    [service('a', 'id -u; exec sleep 1000', { user: 'postgres' }), service('once', 'true', { once: true })],
    {
      directories: [{ path: '/data', owner: 'postgres', mode: 0o700, isData: true }],
      files: [{ ...file('/etc/a', 'x', 'nothing', 0o600), owner: 'etcd' }],
    },
  )
  const program = `
    import { LocalTarget } from '${TARGET}'
    const target = new LocalTarget(${JSON.stringify({ directory: stack.directory, isRoot: false, program: SUPERVISE })})
    const machine = ${JSON.stringify(made)}
    await target.write(machine)
    await target.start(machine)
    const pid = (await target.observe()).get('m').services.get('a').pid
    process.kill(pid, 'SIGKILL')
    let state
    do state = (await target.observe()).get('m').services.get('a')
    while (state.restarts < 1 || state.state !== 'running')
    const existing = (await target.read()).get('m')
    const lines = []
    for await (const { line } of target.logs(['m'], { lines: 10, follow: false, signal: new AbortController().signal })) lines.push(line)
    await target.remove('m', { keepData: false })
    await target.shutdown()
    console.log(JSON.stringify({ state, lines, files: [...existing.files], directories: [...existing.directories] }))`
  const identity = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups']
  const node = [process.execPath, '--input-type=module-typescript', '--eval', program]
  const { stdout } = await promisify(execFile)('setpriv', [...identity, ...node])
  const { state, lines, files, directories } = JSON.parse(stdout)
  expect(state.failure).toMatchObject({ kind: 'killed', signal: 'SIGKILL' })
  expect(lines[0]).toBe(String(NOBODY))
  expect(files).toEqual([['/etc/a', { owner: 'etcd', mode: 0o600, text: 'x' }]])
  expect(directories).toEqual([['/data', { owner: 'postgres', mode: 0o700, isData: true }]])
  expect(stack.processes('m')).toEqual([])
})
