import { expect, test } from 'vitest'
import { collectingIo, type CommandOptions } from '../../test/support/command-line.ts'
import type { EtcdOptions } from '../etcd/options.ts'
import { command } from './command.ts'
import { ETCD_FLAGS, readEtcdFlags } from './etcd-flags.ts'

async function read(argv: readonly string[], options: CommandOptions = {}): Promise<EtcdOptions> {
  let found: EtcdOptions | undefined
  const { io } = collectingIo(options)
  const reading = command({
    name: 'read',
    summary: '',
    usage: '',
    options: ETCD_FLAGS,
    async run(args) {
      found = await readEtcdFlags(args.options, io)
      return 0
    },
  })
  await reading.run(argv, io)
  return found!
}

test('without anything it is the etcd of this host, in the clear', async () => {
  expect(await read([])).toEqual({ endpoints: ['127.0.0.1:2379'] })
})

test('flags and variables say the same, and a flag wins', async () => {
  const expected = {
    endpoints: ['https://etcd1:2379', 'etcd2:2379'],
    tls: { caFile: 'ca', certFile: 'cert', keyFile: 'key' },
    username: 'ann',
    password: 'secret',
    dialTimeoutMs: 500,
    requestTimeoutMs: 90_000,
  }
  const flags = [
    ['endpoints', 'https://etcd1:2379, etcd2:2379'],
    ['cacert', 'ca'],
    ['cert', 'cert'],
    ['key', 'key'],
    ['user', 'ann:secret'],
    ['dial-timeout', '500ms'],
    ['command-timeout', '1m30s'],
  ] as const
  const argv = flags.map(([name, value]) => `--${name}=${value}`)
  const variable = (name: string) => `ETCDCTL_${name.toUpperCase().replace('-', '_')}`
  expect(await read(argv)).toEqual(expected)
  expect(await read([], { env: Object.fromEntries(flags.map(([name, value]) => [variable(name), value])) })).toEqual(
    expected,
  )
  expect(
    await read(argv, { env: Object.fromEntries(flags.map(([name]) => [variable(name), 'other:1', 'other'])) }),
  ).toEqual(expected)
})

test('an empty variable is none', async () => {
  expect(await read([], { env: { ETCDCTL_CACERT: '', ETCDCTL_USER: '' } })).toEqual({ endpoints: ['127.0.0.1:2379'] })
})

test.each([
  [['--insecure-transport=false'], { tls: {} }],
  [['--insecure-transport'], {}],
  [['--insecure-skip-tls-verify'], { tls: { insecure: true } }],
  [['--insecure-skip-tls-verify=false'], {}],
  [['--cacert', 'ca', '--insecure-skip-tls-verify=true'], { tls: { caFile: 'ca', insecure: true } }],
])('%j means %o', async (argv, expected) => {
  expect(await read(argv)).toEqual({ endpoints: ['127.0.0.1:2379'], ...expected })
})

test.each<[string[], CommandOptions, object]>([
  [['--user', 'ann:a:b'], {}, { username: 'ann', password: 'a:b' }],
  [['--user', 'ann', '--password', 'secret'], {}, { username: 'ann', password: 'secret' }],
  [['--user', 'a:b', '--password', 'secret'], {}, { username: 'a:b', password: 'secret' }],
  [['--user', 'ann'], { env: { ETCDCTL_PASSWORD: 'secret' } }, { username: 'ann', password: 'secret' }],
  [['--user', 'ann'], { terminal: true, stdin: 'secrt\u007fet\r' }, { username: 'ann', password: 'secret' }],
])('%j with %o is somebody with a password', async (argv, options, expected) => {
  expect(await read(argv, options)).toMatchObject(expected)
})

test('a password is asked for without being shown, and asking can be refused', async () => {
  const { io, printed } = collectingIo({ terminal: true, stdin: 'secret\n' })
  const raw: boolean[] = []
  const stdin = Object.assign(io.stdin, { setRawMode: (on: boolean) => raw.push(on) })
  const flags = { ...Object.fromEntries(Object.keys(ETCD_FLAGS).map((name) => [name, undefined])), user: 'ann' }
  await readEtcdFlags(flags as never, { ...io, stdin })
  expect(printed.stderr).toBe('Password of ann: \n')
  expect(raw).toEqual([true, false])
  await expect(read(['--user', 'ann'], { terminal: true, stdin: 'sec\u0003' })).rejects.toMatchObject({
    code: 'Interrupted',
  })
})

test.each<[string[], string]>([
  [['--user', 'ann'], 'Cannot identify as "ann": there is no password and nobody to ask; expected ETCDCTL_PASSWORD'],
  [['--cert', 'x'], 'Cannot use --cert alone: a certificate and its key go together; expected both'],
  [['--endpoints', 'a:1,etcd'], 'Cannot use endpoint "etcd": not an address; expected HOST:PORT'],
  [['--endpoints', 'http://root:secret@a:1'], 'Cannot use an endpoint with a user in it; expected --user and'],
  [['--dial-timeout', '5'], 'Cannot read "5" as --dial-timeout: expected a duration such as 5s or 1m30s'],
  [['--command-timeout', '0'], 'Cannot read "0" as --command-timeout: expected a duration'],
  [['--insecure-transport=perhaps'], 'Cannot read "perhaps" as --insecure-transport: expected true or false'],
])('%j is wrong usage', async (argv, message) => {
  await expect(read(argv)).rejects.toThrow(message)
  await expect(read(argv)).rejects.toMatchObject({ code: 'Usage' })
})
