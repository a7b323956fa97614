import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, openSync, statSync, writeSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { HoldfastError } from '../../lib/errors.ts'
import { agentGuest } from './guest-agent.ts'
import type { Ended, Hypervisor } from './hypervisor.ts'

/** The commands of QEMU's agent, done on this host. A program that was started has ended when it is asked for the third time. */
class AgentDouble {
  readonly commands: { readonly execute: string; readonly arguments: Readonly<Record<string, unknown>> }[] = []
  readonly modes: number[] = []
  readonly #runs: { readonly ended: object; asked: number }[] = []

  until(): this {
    return this
  }

  agent(_domain: string, command: object): Promise<unknown> {
    const asked = command as AgentDouble['commands'][number]
    this.commands.push(asked)
    const of = asked.arguments
    switch (asked.execute) {
      case 'guest-exec': {
        const { status, signal, stdout, stderr } = spawnSync(of.path as string, of.arg as string[])
        this.#runs.push({
          asked: 0,
          ended: {
            exited: true,
            ...(status === null ? { signal: signal === 'SIGKILL' ? 9 : 1 } : { exitcode: status }),
            ...(stdout.length > 0 ? { 'out-data': stdout.toString('base64') } : {}),
            ...(stderr.length > 0 ? { 'err-data': stderr.toString('base64') } : {}),
          },
        })
        return Promise.resolve({ pid: this.#runs.length - 1 })
      }
      case 'guest-exec-status': {
        const run = this.#runs[of.pid as number]
        return Promise.resolve(++run.asked > 2 ? run.ended : { exited: false })
      }
      case 'guest-file-open':
        this.modes.push(statSync(of.path as string).mode & 0o777)
        return Promise.resolve(openSync(of.path as string, of.mode as string))
      case 'guest-file-write': {
        // The agent may take less than it was given.
        const bytes = Buffer.from(of['buf-b64'] as string, 'base64')
        const count = writeSync(of.handle as number, bytes.subarray(0, Math.ceil(bytes.length / 2)))
        return Promise.resolve({ count, eof: false })
      }
      default:
        closeSync(of.handle as number)
        return Promise.resolve({})
    }
  }
}

const ending = new AbortController()
let double = new AgentDouble()
afterEach(() => {
  double = new AgentDouble()
})

function run(command: readonly string[], input?: string): Promise<Ended> {
  const guest = agentGuest(double as unknown as Hypervisor, 'd', ending.signal)
  return guest.run(command, { timeoutMs: 10_000, ...(input === undefined ? {} : { input }) })
}

test('output, errors and exit code come back', async () => {
  const ended = await run(['sh', '-c', 'echo out "$0"; echo err >&2; exit 7', "a b'c"])
  expect(ended).toEqual({ code: 7, output: "out a b'c\n", errors: 'err\n' })
})

test('a program that was ended by a signal has the code that a shell would tell', async () => {
  expect((await run(['sh', '-c', 'kill -9 $$'])).code).toBe(137)
})

test('input of any length is read, and neither seen in a command line nor left anywhere', async () => {
  const input = `geheim ä ${randomBytes(150_000).toString('base64')}`
  const ended = await run(['cat'], input)
  expect(ended).toEqual({ code: 0, output: input, errors: '' })
  const started = double.commands.filter(({ execute }) => execute === 'guest-exec')
  expect(JSON.stringify(started)).not.toContain('geheim')
  expect(double.modes).toEqual([0o600])
  const file = double.commands.find(({ execute }) => execute === 'guest-file-open')?.arguments.path as string
  expect(file).toMatch(/^\/run\/holdfast\./u)
  expect(existsSync(file)).toBe(false)
})

test('input of no length is input, too', async () => {
  expect(await run(['wc', '-c'], '')).toMatchObject({ code: 0, output: '0\n' })
})

test('who is interrupted leaves no input behind', async () => {
  const interrupting = new AbortController()
  const guest = agentGuest(double as unknown as Hypervisor, 'd', interrupting.signal)
  const asked = double.agent.bind(double)
  double.agent = (domain, command) => {
    const { execute } = command as { execute: string }
    if (execute === 'guest-file-write') interrupting.abort(new Error('enough'))
    return execute === 'guest-file-close' ? Promise.reject(new Error('enough')) : asked(domain, command)
  }
  await expect(guest.run(['cat'], { input: 'geheim', timeoutMs: 10_000 })).rejects.toThrow('enough')
  const file = double.commands.find(({ execute }) => execute === 'guest-file-open')?.arguments.path as string
  expect(existsSync(file)).toBe(false)
})

test('nobody waits for a program in a machine that went off', async () => {
  const silent = new HoldfastError('GuestSilent', 'no answer', { retryable: true })
  const guest = agentGuest(
    {
      agent: (_: string, { execute }: { execute: string }) =>
        execute === 'guest-exec' ? Promise.resolve({ pid: 1 }) : Promise.reject(silent),
      state: () => Promise.resolve({ state: 'shut off' }),
    } as unknown as Hypervisor,
    'm-1',
    ending.signal,
  )
  await expect(guest.run(['sleep', '100'], { timeoutMs: 100_000 })).rejects.toMatchObject({
    code: 'GuestSilent',
    message: 'Cannot run "sleep" in "m-1": its domain does not run any more',
  })
})

test('a program that does not end in time is told', async () => {
  const guest = agentGuest(
    {
      agent: (_: string, { execute }: { execute: string }) =>
        Promise.resolve(execute === 'guest-exec' ? { pid: 1 } : { exited: false }),
    } as unknown as Hypervisor,
    'm-1',
    ending.signal,
  )
  await expect(guest.run(['sleep', '100'], { timeoutMs: 50 })).rejects.toMatchObject({
    code: 'GuestSilent',
    message: 'Cannot run "sleep" in "m-1": not ended after 0.05 s',
  })
})
