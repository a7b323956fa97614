import { Readable, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { command, type Io } from './command.ts'

const io: Io = {
  stdin: Readable.from([]),
  stdout: new Writable(),
  stderr: new Writable(),
  env: {},
  stopSignal: () => new AbortController().signal,
  onHangup() {},
}

async function parse(...argv: string[]): Promise<unknown> {
  let seen: unknown
  const serve = command({
    name: 'serve',
    summary: 'Serves',
    usage: '',
    positionals: ['FILE...'],
    options: {
      conf: { value: 'FILE', summary: 'configuration' },
      listen: { value: 'ADDR:PORT', repeat: true, summary: 'address' },
      'dns.port': { value: 'PORT', summary: 'port' },
      quiet: { summary: 'less' },
    },
    run: (args) => {
      seen = args
      return Promise.resolve(0)
    },
  })
  await serve.run(argv, io)
  return seen
}

test('one dash and two, a blank and an equals sign mean the same', async () => {
  const expected = {
    positionals: ['f'],
    options: { conf: 'Corefile', listen: [], 'dns.port': '53', quiet: true },
  }
  expect(await parse('-conf', 'Corefile', '-dns.port=53', '-quiet', 'f')).toEqual(expected)
  expect(await parse('f', '--conf=Corefile', '--dns.port', '53', '--quiet')).toEqual(expected)
})

test('absent options are undefined, empty or false', async () => {
  const options = { conf: undefined, listen: [], 'dns.port': undefined, quiet: false }
  expect(await parse('f')).toEqual({ positionals: ['f'], options })
})

test('a repeatable option keeps its values in order; another may stand once', async () => {
  expect(await parse('f', '--listen', 'a', '--listen=b')).toMatchObject({ options: { listen: ['a', 'b'] } })
  await expect(parse('f', '--conf', 'a', '--conf', 'b')).rejects.toThrow('option "--conf" is given twice')
})

test('after -- everything is an argument, and a single dash always is', async () => {
  expect(await parse('-', '--', '--quiet')).toMatchObject({ positionals: ['-', '--quiet'], options: { quiet: false } })
})

test('an unknown option is an error with the one that may be meant', async () => {
  await expect(parse('f', '--qiuet')).rejects.toThrow(
    'Cannot run "holdfast serve": unknown option "--qiuet"; did you mean "--quiet"?',
  )
  await expect(parse('f', '--constructor')).rejects.toThrow('unknown option "--constructor"')
})

test('values too few or too many are errors', async () => {
  await expect(parse('f', '--conf')).rejects.toThrow('option "--conf" is the last word; expected FILE after it')
  await expect(parse('f', '--quiet=yes')).rejects.toThrow('option "--quiet" takes no value')
  await expect(parse()).rejects.toThrow('FILE... is missing')
})

test('an option with a meaning of its own takes a value only after an equals sign', async () => {
  const seen: unknown[] = []
  const optional = command({
    name: 'optional',
    summary: '',
    usage: '',
    positionals: ['NAME', '[TYPE]'],
    options: { secure: { value: 'BOOL', bare: 'true', summary: '' } },
    run: (args) => {
      seen.push(args)
      return Promise.resolve(0)
    },
  })
  await optional.run(['--secure', 'a', 'b'], io)
  await optional.run(['a', '--secure=false'], io)
  await optional.run(['a'], io)
  expect(seen).toEqual([
    { positionals: ['a', 'b'], options: { secure: 'true' } },
    { positionals: ['a'], options: { secure: 'false' } },
    { positionals: ['a'], options: { secure: undefined } },
  ])
  await expect(optional.run([], io)).rejects.toThrow('NAME is missing')
  await expect(optional.run(['a', 'b', 'c'], io)).rejects.toThrow('unexpected argument "c"')
})
