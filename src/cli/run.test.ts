import { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { collectingIo } from '../../test/support/command-line.ts'
import { HoldfastError } from '../lib/errors.ts'
import { command, type Io } from './command.ts'
import { run } from './run.ts'

const commands = [
  command({
    name: 'dns',
    summary: 'Answer questions',
    usage: '[--zones DIR]',
    options: {
      zones: { value: 'DIR', repeat: true, summary: 'a directory' },
      quiet: { summary: 'say less' },
      json: { summary: 'as JSON' },
    },
    run: ({ options }) => {
      if (options.zones.includes('defect')) throw new TypeError('a defect')
      if (options.zones.includes('broken')) {
        const problems = [
          { message: 'Cannot load Corefile:1:1: x', place: { file: 'Corefile', line: 1, column: 1 } },
          { message: 'Cannot load Corefile:2:1: y', place: { file: 'Corefile', line: 2, column: 1 } },
        ]
        throw new HoldfastError('CorefileInvalid', problems.map(({ message }) => message).join('\n'), { problems })
      }
      if (options.zones.includes('taken'))
        throw new HoldfastError('PortInUse', 'Cannot listen', { hint: 'another port' })
      return Promise.resolve(0)
    },
  }),
  command({ name: 'zone check', summary: 'Check', usage: '', options: {}, run: () => Promise.resolve(3) }),
]

async function holdfast(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const streams = { stdout: '', stderr: '' }
  const collect = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        streams[name] += chunk.toString()
        done()
      },
    })
  const io: Io = {
    stdin: Readable.from([]),
    stdout: collect('stdout'),
    stderr: collect('stderr'),
    env: {},
    stopSignal: () => new AbortController().signal,
    onHangup() {},
  }
  const entries = commands?.map((each) => ({ name: each.name, load: async () => each }))
  const code = await run(argv, io, entries)
  return { code, ...streams }
}

test('a command of one word or two is found, and its exit code is ours', async () => {
  expect(await holdfast('dns', '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(await holdfast('zone', 'check')).toEqual({ code: 3, stdout: '', stderr: '' })
})

test('nothing at all shows the commands and is wrong usage', async () => {
  const { code, stderr } = await holdfast()
  expect(code).toBe(2)
  expect(stderr).toContain('  dns         Answer questions\n  zone check  Check\n')
})

test('help is shown for all and for each, wherever it is asked for', async () => {
  expect((await holdfast('--help')).stdout).toContain('Usage: holdfast COMMAND')
  const expected = [
    'Usage: holdfast dns [--zones DIR]',
    '',
    'Answer questions',
    '',
    '  --zones DIR  a directory (may be repeated)',
    '  --quiet      say less',
    '  --json       as JSON',
    '',
  ].join('\n')
  for (const argv of [
    ['dns', '--help'],
    ['help', 'dns'],
    ['--help', 'dns'],
    ['dns', '--zones', 'x', '-h'],
  ]) {
    expect(await holdfast(...argv)).toEqual({ code: 0, stdout: expected, stderr: '' })
  }
})

test('the version names the program and the Node it runs on', async () => {
  expect((await holdfast('--version')).stdout).toMatch(/^holdfast \d+\.\d+\.\d+ \(node \d+\.\d+\.\d+\)\n$/u)
  expect((await holdfast('-version')).code).toBe(0)
})

test('an unknown command is wrong usage, with the one that may be meant', async () => {
  const unknown = await holdfast('dsn')
  expect(unknown.code).toBe(2)
  expect(unknown.stderr).toBe(
    'holdfast: Cannot run "holdfast dsn": no such command; did you mean "dns"? see "holdfast --help"\n',
  )
  expect((await holdfast('zone', 'chekc')).stderr).toContain('did you mean "zone check"? see "holdfast zone --help"\n')
  expect((await holdfast('zone', 'verify')).stderr).toContain('did you mean "zone check"?')
  expect((await holdfast('zone', 'x')).stderr).toContain('no such command; expected one of check; see')
  expect((await holdfast('zone')).stderr).toContain('the command is incomplete; expected one of check; see')
  expect((await holdfast('kubernetes')).stderr).toBe(
    'holdfast: Cannot run "holdfast kubernetes": no such command; see "holdfast --help"\n',
  )
})

test('an unknown option is wrong usage', async () => {
  const { code, stderr } = await holdfast('dns', '--zonse', 'x')
  expect(code).toBe(2)
  expect(stderr).toContain(
    'unknown option "--zonse"; did you mean "--zones"?\nholdfast: "holdfast dns --help" shows its options\n',
  )
})

test('an error is its message and hint on stderr, and a code that says whose fault it is', async () => {
  expect(await holdfast('dns', '--zones', 'broken')).toEqual({
    code: 3,
    stdout: '',
    stderr: 'holdfast: Cannot load Corefile:1:1: x\nholdfast: Cannot load Corefile:2:1: y [CorefileInvalid]\n',
  })
  expect(await holdfast('dns', '--zones', 'taken')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'holdfast: Cannot listen [PortInUse]\nholdfast: another port\n',
  })
})

test('with --json an error is one line of JSON on stderr, with the place of each fault', async () => {
  const broken = await holdfast('dns', '--json', '--zones', 'broken')
  expect(broken.stderr).toMatch(/^[^\n]+\n$/u)
  expect(JSON.parse(broken.stderr)).toEqual({
    exitCode: 3,
    errors: [1, 2].map((line) => ({
      code: 'CorefileInvalid',
      message: `Cannot load Corefile:${line}:1: ${line === 1 ? 'x' : 'y'}`,
      retryable: false,
      place: { file: 'Corefile', line, column: 1 },
    })),
  })
  expect(JSON.parse((await holdfast('dns', '--zones', 'taken', '--json')).stderr)).toEqual({
    exitCode: 1,
    errors: [{ code: 'PortInUse', message: 'Cannot listen', hint: 'another port', retryable: false }],
  })
  expect((await holdfast('dns', '--zones', 'taken', '--', '--json')).stderr).toContain('Cannot run "holdfast dns"')
})

test('a defect of the program is not dressed up as an error of the user', async () => {
  await expect(holdfast('dns', '--zones', 'defect')).rejects.toThrow(TypeError)
})

test.each([
  ['the reason of a signal', async (signal: AbortSignal) => signal.throwIfAborted()],
  ['a timer that it ended', (signal: AbortSignal) => sleep(1, undefined, { signal })],
])('a command that was interrupted says so in one line: %s', async (_, work) => {
  const { io, printed } = collectingIo({ signal: AbortSignal.abort('SIGINT') })
  const options = { name: 'work', summary: '', usage: '', options: {} }
  const interrupted = command({ ...options, run: async (_args, given) => (await work(given.stopSignal()), 0) })
  expect(await run(['work'], io, [{ name: 'work', load: async () => interrupted }])).toBe(130)
  expect(printed.stderr).toBe('holdfast: Interrupted; what was done so far stays [Interrupted]\n')
})

test('a defect is none of that', async () => {
  const { io } = collectingIo({ signal: AbortSignal.abort('SIGINT') })
  const options = { name: 'work', summary: '', usage: '', options: {} }
  const broken = command({
    ...options,
    run: (_args, given) => Promise.reject(new TypeError(given.stopSignal().reason)),
  })
  await expect(run(['work'], io, [{ name: 'work', load: async () => broken }])).rejects.toThrow(TypeError)
})

test.each([
  ['SIGINT', false, 130],
  ['SIGTERM', false, 143],
  ['SIGINT', true, 130],
  ['SIGTERM', true, 0],
])('a command that ends in order after %s (a server: %s) exits with %i', async (name, isServer, expected) => {
  const { io } = collectingIo({ signal: AbortSignal.abort(name) })
  const options = { name: 'work', summary: '', usage: '', options: {}, isServer }
  const work = command({ ...options, run: async (_args, given) => (given.stopSignal().aborted ? 0 : 1) })
  expect(await run(['work'], io, [{ name: 'work', load: async () => work }])).toBe(expected)
})

test('help of a family has its own usage', async () => {
  for (const argv of [
    ['zone', '--help'],
    ['help', 'zone'],
  ])
    expect((await holdfast(...argv)).stdout).toBe(
      [
        'Usage: holdfast zone COMMAND [OPTIONS]',
        '',
        '  zone check  Check',
        '',
        '"holdfast zone COMMAND --help" shows the options of a command.',
        '',
      ].join('\n'),
    )
})

test('help of every command fits 80 columns, and the list has one line for each command', async () => {
  const { io, printed } = collectingIo()
  expect(await run(['--help'], io)).toBe(0)
  const names = printed.stdout.split('\n').filter((line) => line.startsWith('  '))
  expect(names.filter((line) => !/^ {2}\w/u.test(line))).toEqual([])
  for (const name of names.map((line) => line.trim().split(/ {2,}/u)[0])) await run([...name.split(' '), '--help'], io)
  expect(printed.stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
})

test.each([
  ['record add x', 'did you mean "record set"?'],
  ['record delete x', 'did you mean "record rm"?'],
  ['top', 'did you mean "status"?'],
  ['destroy', 'did you mean "down"?'],
  ['psql', 'no such command; see "holdfast --help"\n'],
  ['ls', 'no such command; see "holdfast --help"\n'],
])('"%s" is answered with: %s', async (words, expected) => {
  const { io, printed } = collectingIo()
  expect(await run(words.split(' '), io)).toBe(2)
  expect(printed.stderr).toContain(expected)
  expect(printed.stderr.length).toBeLessThan(120)
})
