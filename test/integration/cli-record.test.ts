// `holdfast record …` against a real etcd; what it stores is read with the reader of the server.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { formatRecord } from '../../src/dns/zonefile/format.ts'
import { EtcdClient, prefixEnd } from '../../src/etcd/client.ts'
import { SkydnsTree } from '../../src/names/skydns/tree.ts'
import { type CommandOptions, type CommandResult, holdfast } from '../support/command-line.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'

let etcd: EtcdCluster
let client: EtcdClient
beforeAll(async () => {
  etcd = await EtcdCluster.start({ members: 1 })
  client = new EtcdClient(etcd.options)
})
afterAll(async () => {
  client.close()
  await etcd.stop()
})
afterEach(() => etcd.etcdctl('del', '', '--prefix'))

function record(argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  return holdfast(['record', ...argv, '--endpoints', etcd.endpoints.join(',')], options)
}

async function set(...argv: readonly string[]): Promise<void> {
  const { code, stderr } = await record(['set', ...argv])
  expect(code, stderr).toBe(0)
}

async function put(key: string, value: object | string): Promise<void> {
  await etcd.etcdctl('put', '--', key, typeof value === 'string' ? value : JSON.stringify(value))
}

async function keys(prefix = '/skydns/'): Promise<Record<string, unknown>> {
  const key = Buffer.from(prefix)
  const { kvs } = await client.range({ key, rangeEnd: prefixEnd(key) })
  return Object.fromEntries(
    kvs.map((kv) => [Buffer.from(kv.key).toString(), JSON.parse(Buffer.from(kv.value).toString()) as unknown]),
  )
}

/** What the server has for a name, without its SOA. */
async function served(name: string, mode: 'compatible' | 'exact' = 'compatible'): Promise<string[]> {
  const zones = ['example.test.', '2.0.192.in-addr.arpa.']
  const tree = new SkydnsTree({ path: '/skydns', zones, mode, maxLeaseTtlSeconds: 86_400 })
  const key = Buffer.from('/skydns/')
  const { kvs } = await client.range({ key, rangeEnd: prefixEnd(key) })
  for (const kv of kvs) expect(tree.put(kv.key, kv.value, undefined)).toBeUndefined()
  return [...tree.flush()]
    .flatMap(({ owner, records }) => records.map(({ type, ttl, rdata }) => formatRecord(owner, ttl, type, rdata)))
    .filter((line) => line.startsWith(`${name} `))
    .toSorted()
}

test('addresses are stored as ExternalDNS stores them', async () => {
  await set('www.example.test', 'A', '192.0.2.1', '192.0.2.2', '--ttl', '60')
  const stored = await keys()
  expect(Object.keys(stored)).toEqual([
    expect.stringMatching(/^\/skydns\/test\/example\/www\/[0-9a-f]{8}$/u),
    expect.stringMatching(/^\/skydns\/test\/example\/www\/[0-9a-f]{8}$/u),
  ])
  expect(Object.values(stored)).toContainEqual({ host: '192.0.2.1', ttl: 60, targetstrip: 1 })
  expect(await served('www.example.test.')).toContain('www.example.test. 60 IN A 192.0.2.1')
  // Once more, in another order and letter case: nothing to do.
  const again = await record(['set', 'WWW.Example.test.', 'a', '192.0.2.2', '192.0.2.1', '--ttl', '60'])
  expect(again.stdout).toBe('WWW.Example.test. unchanged\n')
  expect(await keys()).toEqual(stored)
})

test.each([
  ['A', ['192.0.2.1'], 'A 192.0.2.1'],
  ['AAAA', ['2001:db8::1'], 'AAAA 2001:db8::1'],
  ['CNAME', ['Other.Example.test.'], 'CNAME Other.Example.test.'],
  ['TXT', ['say "hi", ä'], String.raw`TXT "say \"hi\", \195\164"`],
  ['MX', ['20 mail.example.test'], 'MX 20 mail.example.test.'],
  ['MX', ['mail.example.test', '--priority', '20'], 'MX 20 mail.example.test.'],
  ['SRV', ['5 7 8080 web.example.test'], 'SRV 5 100 8080 web.example.test.'],
  ['SRV', ['web.example.test', '--port', '8080'], 'SRV 10 100 8080 web.example.test.'],
])('%s %j is served as %s', async (type, values, expected) => {
  await set('x.example.test', type, ...values)
  const mode = ['CNAME', 'MX', 'SRV'].includes(type) ? 'compatible' : 'exact'
  expect(await served('x.example.test.', mode)).toContain(`x.example.test. 300 IN ${expected}`)
  const listed = await record(['ls', 'x.example.test', '--json'])
  expect(JSON.parse(listed.stdout)).toMatchObject({ name: 'x.example.test.', type, error: null })
})

test('a PTR record is at the key of its name, where it is looked for', async () => {
  await set('1.2.0.192.in-addr.arpa', 'PTR', 'www.example.test')
  expect(await keys()).toEqual({ '/skydns/arpa/in-addr/192/0/2/1': { host: 'www.example.test' } })
  expect(await served('1.2.0.192.in-addr.arpa.')).toContain('1.2.0.192.in-addr.arpa. 300 IN PTR www.example.test.')
  await put('/skydns/arpa/in-addr/192/0/2/2', { text: 'note' })
  await set('2.2.0.192.in-addr.arpa', 'PTR', 'web.example.test')
  expect((await keys())['/skydns/arpa/in-addr/192/0/2/2']).toEqual({ text: 'note', host: 'web.example.test' })
})

test('name servers are addresses below dns/ns of their zone', async () => {
  await set('example.test', 'NS', 'ns1=192.0.2.53', 'ns2=2001:db8::53')
  expect(await keys()).toEqual({
    '/skydns/test/example/dns/ns/ns1': { host: '192.0.2.53' },
    '/skydns/test/example/dns/ns/ns2': { host: '2001:db8::53' },
  })
  expect(await served('example.test.')).toContain('example.test. 300 IN NS ns1.ns.dns.example.test.')
  await set('example.test', 'NS', 'ns1=192.0.2.54')
  expect(await keys()).toEqual({ '/skydns/test/example/dns/ns/ns1': { host: '192.0.2.54' } })
})

describe('set', () => {
  test('replaces this type only, and keeps what others wrote down in an entry', async () => {
    await put('/skydns/test/example/www/1a2b3c4d', {
      host: '192.0.2.1',
      targetstrip: 1,
      owner: 'cluster',
      text: 'heritage=x',
    })
    await put('/skydns/test/example/www/2a2b3c4d', { host: '192.0.2.2', targetstrip: 1, text: 'kept' })
    await put('/skydns/test/example/www/3a2b3c4d', { host: '2001:db8::1', targetstrip: 1 })
    await put('/skydns/test/example/www/sub/4a2b3c4d', { host: '192.0.2.9', targetstrip: 1 })
    const { stdout } = await record(['set', 'www.example.test', 'A', '192.0.2.1', '192.0.2.3', '--ttl', '60'])
    expect(stdout.replace(/revision \d+/u, 'revision N')).toBe(
      [
        '- www.example.test. A 192.0.2.1',
        '- www.example.test. TXT "heritage=x"',
        '- www.example.test. A 192.0.2.2',
        '+ www.example.test. 60 A 192.0.2.1',
        '+ www.example.test. 60 TXT "heritage=x"',
        '+ www.example.test. 60 A 192.0.2.3',
        'www.example.test. 3 added, 3 removed, revision N',
        '',
      ].join('\n'),
    )
    const stored = await keys()
    expect(stored).toMatchObject({
      '/skydns/test/example/www/1a2b3c4d': {
        host: '192.0.2.1',
        targetstrip: 1,
        owner: 'cluster',
        text: 'heritage=x',
        ttl: 60,
      },
      '/skydns/test/example/www/2a2b3c4d': { targetstrip: 1, text: 'kept' },
      '/skydns/test/example/www/3a2b3c4d': { host: '2001:db8::1', targetstrip: 1 },
      '/skydns/test/example/www/sub/4a2b3c4d': { host: '192.0.2.9', targetstrip: 1 },
    })
    expect(stored['/skydns/test/example/www/2a2b3c4d']).not.toHaveProperty('host')
    expect(Object.keys(stored)).toHaveLength(5)
  })

  test('moves an entry from the key of the name itself, where others would hide it', async () => {
    await put('/skydns/test/example/www', { host: '192.0.2.1', text: 'note' })
    await set('www.example.test', 'AAAA', '2001:db8::1')
    const stored = await keys()
    expect(Object.keys(stored)).not.toContain('/skydns/test/example/www')
    expect(Object.values(stored)).toContainEqual({ host: '192.0.2.1', text: 'note', targetstrip: 1 })
    expect(await served('www.example.test.')).toContain('www.example.test. 300 IN A 192.0.2.1')
    expect(await served('www.example.test.', 'exact')).toEqual([
      'www.example.test. 300 IN A 192.0.2.1',
      'www.example.test. 300 IN AAAA 2001:db8::1',
      'www.example.test. 300 IN TXT "note"',
    ])
  })

  test('keeps the lease of an entry', async () => {
    const lease = await client.leaseGrant(600)
    await client.put(
      Buffer.from('/skydns/test/example/www/1a2b3c4d'),
      Buffer.from('{"host":"192.0.2.1","targetstrip":1}'),
      {
        lease: lease.id,
      },
    )
    await set('www.example.test', 'A', '192.0.2.1', '--ttl', '5')
    const { kvs } = await client.range({ key: Buffer.from('/skydns/test/example/www/1a2b3c4d') })
    expect(kvs[0].lease).toBe(lease.id)
  })

  test('shows what it would do and does nothing with --dry-run', async () => {
    const { stdout } = await record(['set', 'www.example.test', 'A', '192.0.2.1', '--dry-run'])
    expect(stdout).toBe(
      '+ www.example.test. A 192.0.2.1\nwww.example.test. 1 added, 0 removed, not stored (--dry-run)\n',
    )
    expect(await keys()).toEqual({})
    const json = await record(['set', 'www.example.test', 'A', '192.0.2.1', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({
      name: 'www.example.test.',
      stored: true,
      added: ['www.example.test. A 192.0.2.1'],
      removed: [],
      keys: [{ before: null, after: { host: '192.0.2.1', targetstrip: 1 } }],
    })
  })

  test('by several people at once leaves the records of one of them', async () => {
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        record(['set', 'www.example.test', 'A', `192.0.2.${i}`, `192.0.2.${i + 100}`]),
      ),
    )
    const hosts = Object.values(await keys()).map((value) => (value as { host: string }).host)
    expect(hosts).toHaveLength(2)
    const [low] = hosts.map((host) => Number(host.split('.')[3])).toSorted((a, b) => a - b)
    expect(results[low].code).toBe(0)
    for (const { code, stderr } of results)
      if (code !== 0) expect(stderr).toContain('Cannot change "www.example.test.": somebody else changed it meanwhile')
  })

  test('is not disturbed by changes of names below', async () => {
    await put('/skydns/test/example/a/1a2b3c4d', { host: '192.0.2.1', targetstrip: 1 })
    const busy = new AbortController()
    const writing = (async () => {
      for (let i = 0; !busy.signal.aborted; i++)
        await client.put(Buffer.from('/skydns/test/example/b/x'), Buffer.from(`{"host":"10.0.0.${i % 250}"}`))
    })()
    const results = []
    for (let i = 0; i < 5; i++) results.push(await record(['set', 'example.test', 'TXT', `text ${i}`]))
    busy.abort()
    await writing
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0])
    expect(await served('a.example.test.')).toContain('a.example.test. 300 IN A 192.0.2.1')
  })

  test.each([
    [
      ['www.example.test', 'A', '2001:db8::1'],
      'Cannot set A "2001:db8::1": not an IPv4 address; expected one such as 192.0.2.1',
    ],
    [['www.example.test', 'AAAA', '192.0.2.1'], 'not an IPv6 address'],
    [['www.example.test', 'CNAME', '192.0.2.1'], 'it is an address; expected a name'],
    [
      ['www.example.test', 'CNAME', 'a.test', 'b.test'],
      'Cannot set 2 CNAME records at "www.example.test.": expected one',
    ],
    [['www.example.test', 'CNAME', 'a..b'], 'Cannot set CNAME "a..b": expected no empty label'],
    [['www.example.test', 'SRV', 'a.test'], 'it has no port'],
    [['www.example.test', 'SRV', '1 2 a.test'], 'its words do not fit'],
    [['www.example.test', 'MX', '0 a.test'], 'priority 0 means "not given" in SkyDNS'],
    [['www.example.test', 'NS', 'ns1.example.test'], 'expected LABEL=ADDRESS'],
    [['www.example.test', 'CNAME', 'a.test', '--text', 'x'], '--text goes with addresses'],
    [['www.example.test', 'TXT', 'a', '--text', 'x'], '--text goes with addresses'],
    [['www.example.test', 'PTR', 'a.test'], 'with this name and these settings it is CNAME in SkyDNS'],
    [['1.2.0.192.in-addr.arpa', 'CNAME', 'a.test'], 'it is PTR in SkyDNS'],
    [
      ['www.example.test', 'A', '192.0.2.1', '--targetstrip', '2'],
      'its key would spell another name; expected another --targetstrip',
    ],
    [['.', 'A', '192.0.2.1'], 'Cannot set A "192.0.2.1" at ".": its key would spell another name'],
    [['www.example.test', 'A', '192.0.2.1', '192.0.2.1'], 'Cannot set A 192.0.2.1 twice at "www.example.test."'],
    [['www.example.test', 'AAAA', '2001:db8::1', '2001:DB8:0::1'], 'twice'],
    [['www.example.test', 'MX', '10'], 'it ends in a number as addresses do; expected a name'],
    [['www.example.test', 'CNAME', '192.0.2.256'], 'it ends in a number as addresses do; expected a name'],
    [
      ['www.example.test', 'CAA', 'x'],
      'Cannot store records of type "CAA": SkyDNS has no such; expected one of A AAAA CNAME MX NS PTR SRV TXT',
    ],
    [['www.example.test', 'A', '192.0.2.1', '--ttl', 'long'], 'Cannot read "long" as --ttl'],
    [['a..b', 'A', '192.0.2.1'], 'Cannot read the name "a..b"'],
    [[String.raw`a\/b.example.test`, 'A', '192.0.2.1'], 'a label has a slash'],
  ])('refuses %j', async (argv, message) => {
    const { code, stderr } = await record(['set', ...argv])
    expect(stderr).toContain(message)
    expect(code).toBe(2)
    expect(await keys()).toEqual({})
  })

  test('refuses a CNAME beside other records, and others beside a CNAME', async () => {
    await set('www.example.test', 'A', '192.0.2.1')
    const alias = await record(['set', 'www.example.test', 'CNAME', 'a.test'])
    expect(alias.code).toBe(1)
    expect(alias.stderr).toContain(
      'Cannot set CNAME at "www.example.test.": there is A 192.0.2.1, and a CNAME stands alone',
    )
    await set('web.example.test', 'CNAME', 'www.example.test')
    expect((await record(['set', 'web.example.test', 'A', '192.0.2.1'])).code).toBe(1)
    await set('web.example.test', 'CNAME', 'other.example.test')
    expect(await served('web.example.test.', 'exact')).toEqual(['web.example.test. 300 IN CNAME other.example.test.'])
  })
})

test('ls shows every record with its name, and what is broken with the reason', async () => {
  await set('www.example.test', 'A', '192.0.2.1', '--ttl', '60')
  await set('example.test', 'MX', 'mail.example.test')
  await put('/skydns/test/example/bad', 'not json')
  await put('/skydns/test/example//x', { host: '192.0.2.1' })
  await put('/skydns/test/other/x', { host: '192.0.2.1', text: 'two' })
  const { stdout } = await record(['ls'])
  expect(stdout).toBe(
    [
      'NAME                     TTL  TYPE  VALUE',
      '/skydns/test/example//x    -  -     error: it has an empty label; expected one slash between two labels, and none at the end',
      'example.test.              -  MX    10 mail.example.test.',
      expect.any(String),
      'www.example.test.         60  A     192.0.2.1',
      'x.other.test.              -  A     192.0.2.1',
      'x.other.test.              -  TXT   "two"',
      '',
    ]
      .map((line, i) => (i === 3 ? stdout.split('\n')[3] : line))
      .join('\n'),
  )
  expect(stdout.split('\n')[3]).toMatch(/^bad\.example\.test\.\s+-\s+-\s+error: its value is not JSON/u)
  expect((await record(['ls', 'other.test', '--json'])).stdout.trimEnd().split('\n')).toHaveLength(2)
  expect((await record(['ls', 'x.other.test'])).stdout).toContain('192.0.2.1')
  expect((await record(['ls', '--path', '/elsewhere'])).stdout).toBe('NAME  TTL  TYPE  VALUE\n')
})

describe('rm', () => {
  test('removes all, those of a type, or one; names below stay', async () => {
    await set('www.example.test', 'A', '192.0.2.1', '192.0.2.2')
    await set('www.example.test', 'TXT', 'a b', 'c')
    await set('www.example.test', 'MX', '10 mail.example.test', '20 other.example.test')
    await set('sub.www.example.test', 'A', '192.0.2.3')
    expect((await record(['rm', 'www.example.test', 'A', '192.0.2.2', '--yes'])).stdout).toMatch(
      /^- www\.example\.test\. A 192\.0\.2\.2\nwww\.example\.test\. 0 added, 1 removed, revision \d+\n$/u,
    )
    expect((await record(['rm', 'www.example.test', 'TXT', 'a b', '--yes'])).code).toBe(0)
    expect((await record(['rm', 'www.example.test', 'mx', 'OTHER.example.test.', '--yes'])).code).toBe(0)
    expect((await record(['ls', 'www.example.test'])).stdout.split('\n').slice(1, -1)).toHaveLength(4)
    expect((await record(['rm', 'www.example.test', 'TXT', '--yes'])).code).toBe(0)
    expect((await record(['rm', 'www.example.test', '--yes'])).code).toBe(0)
    expect(Object.values(await keys())).toEqual([{ host: '192.0.2.3', targetstrip: 1 }])
  })

  test('leaves the text of an entry whose host goes, and removes broken entries with their name', async () => {
    await put('/skydns/test/example/www/1a2b3c4d', { host: '192.0.2.1', targetstrip: 1, text: 'kept', priority: 5 })
    expect((await record(['rm', 'www.example.test', 'A', '--yes'])).code).toBe(0)
    expect(Object.values(await keys())).toEqual([{ targetstrip: 1, text: 'kept' }])
    await etcd.etcdctl('put', '/skydns/test/example/bad', 'no json')
    expect((await record(['rm', 'bad.example.test', '--yes'])).code).toBe(0)
    expect(Object.keys(await keys())).toHaveLength(1)
  })

  test('asks, says when there is nothing, and shows with --dry-run', async () => {
    await set('www.example.test', 'A', '192.0.2.1')
    expect(await record(['rm', 'www.example.test'])).toMatchObject({ code: 2 })
    expect(await record(['rm', 'www.example.test'], { terminal: true, stdin: 'no\n' })).toMatchObject({ code: 1 })
    expect((await record(['rm', 'www.example.test', '--dry-run'])).stdout).toContain('not stored (--dry-run)')
    expect(await record(['rm', 'www.example.test', 'AAAA', '--yes'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Cannot find "www.example.test. AAAA": there is no such record'),
    })
    expect(Object.keys(await keys())).toHaveLength(1)
    expect(await record(['rm', 'www.example.test'], { terminal: true, stdin: 'y\n' })).toMatchObject({ code: 0 })
    expect(await keys()).toEqual({})
  })
})
