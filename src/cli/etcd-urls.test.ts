import { expect, test } from 'vitest'
import { collectingIo } from '../../test/support/command-line.ts'
import type { EtcdOptions } from '../etcd/options.ts'
import { command } from './command.ts'
import { ETCD_FLAGS } from './etcd-flags.ts'
import { readEtcdUrls } from './etcd-urls.ts'

async function read(env: Readonly<Record<string, string>>, argv: readonly string[] = []): Promise<EtcdOptions> {
  let found: EtcdOptions | undefined
  const { io } = collectingIo({ env })
  const reading = command({
    name: 'read',
    summary: '',
    usage: '',
    options: ETCD_FLAGS,
    async run(args) {
      found = await readEtcdUrls(args.options, io)
      return 0
    },
  })
  await reading.run(argv, io)
  return found!
}

test("all of ExternalDNS's variables are read", async () => {
  const env = {
    ETCD_URLS: 'https://a.test:2379,https://b.test:2379',
    ETCD_USERNAME: 'ann',
    ETCD_PASSWORD: 'se:cret',
    ETCD_CA_FILE: 'ca',
    ETCD_CERT_FILE: 'cert',
    ETCD_KEY_FILE: 'key',
    ETCD_TLS_SERVER_NAME: 'etcd.test',
    ETCD_TLS_INSECURE: 'Yes',
  }
  expect(await read(env)).toEqual({
    endpoints: ['https://a.test:2379', 'https://b.test:2379'],
    username: 'ann',
    password: 'se:cret',
    tls: { caFile: 'ca', certFile: 'cert', keyFile: 'key', serverName: 'etcd.test', insecure: true },
  })
})

test('without TLS its files do not count, and an empty variable is none', async () => {
  const env = { ETCD_URLS: 'http://a.test:2379', ETCD_CA_FILE: 'ca', ETCD_KEY_FILE: 'key', ETCD_USERNAME: '' }
  expect(await read(env)).toEqual({ endpoints: ['http://a.test:2379'] })
  expect(await read({ ETCD_URLS: '' })).toEqual({ endpoints: ['http://localhost:2379'] })
})

test('an empty flag is none, but for a password', async () => {
  const env = { ETCD_URLS: 'https://a.test:2379', ETCD_CA_FILE: 'ca' }
  expect(await read(env, ['--endpoints=', '--cacert=', '--cert=', '--user='])).toEqual({
    endpoints: ['https://a.test:2379'],
    tls: { caFile: 'ca' },
  })
  expect(await read(env, ['--user=ann', '--password='])).toMatchObject({ username: 'ann', password: '' })
})

test('our own flags win, then these variables, then those of etcdctl', async () => {
  const env = { ETCD_URLS: 'https://a.test:2379', ETCD_CA_FILE: 'ca', ETCDCTL_ENDPOINTS: 'https://c.test:2379' }
  expect(await read(env, ['--endpoints', 'https://b.test:2379', '--user', 'bob:secret'])).toEqual({
    endpoints: ['https://b.test:2379'],
    tls: { caFile: 'ca' },
    username: 'bob',
    password: 'secret',
  })
  expect((await read(env, ['--cacert', 'other'])).tls).toEqual({ caFile: 'other' })
  expect((await read(env)).endpoints).toEqual(['https://a.test:2379'])
  expect((await read({ ...env, ETCD_URLS: '' })).endpoints).toEqual(['https://c.test:2379'])
  const ours = await read({ ...env, ETCD_USERNAME: 'ann', ETCD_PASSWORD: 'x' }, ['--user', 'bob:secret'])
  expect(ours).toMatchObject({ username: 'bob', password: 'secret' })
})

test('what does not go together is refused, and no password is shown', async () => {
  await expect(read({ ETCD_URLS: 'a.test:2379' })).rejects.toThrow(
    'Cannot use "a.test:2379" of ETCD_URLS: it does not begin with http:// or https://; expected "https://HOST:2379"',
  )
  await expect(read({ ETCD_URLS: 'ftp://ann:secret@a.test' })).rejects.toThrow('"***@a.test"')
  await expect(read({ ETCD_URLS: 'https://a.test:1', ETCD_CERT_FILE: 'x' })).rejects.toThrow('ETCD_CERT_FILE alone')
  await expect(read({ ETCD_USERNAME: 'ann' })).rejects.toThrow('ETCD_PASSWORD is missing')
})
