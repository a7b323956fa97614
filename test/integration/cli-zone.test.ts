// `holdfast zone …` against a real etcd.

import { PassThrough } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { collectingIo, type CommandOptions, type CommandResult, holdfast } from '../support/command-line.ts'
import { EtcdCluster } from '../support/etcd-cluster.ts'
import { Sandbox, zoneText } from '../support/holdfast-process.ts'
import { until } from '../support/until.ts'

let etcd: EtcdCluster
let sandbox: Sandbox
beforeAll(async () => {
  etcd = await EtcdCluster.start({ members: 1 })
})
afterAll(() => etcd.stop())
beforeEach(() => {
  sandbox = new Sandbox()
})
afterEach(async () => {
  await sandbox.close()
  await etcd.etcdctl('del', '', '--prefix')
})

function zone(argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  return holdfast(['zone', ...argv], {
    ...options,
    env: { ETCDCTL_ENDPOINTS: etcd.endpoints.join(','), ...options.env },
  })
}

function put(key: string, text: string): Promise<string> {
  return etcd.etcdctl('put', '--', key, text)
}

async function stored(key: string): Promise<string> {
  const text = await etcd.etcdctl('get', '--print-value-only', key)
  // etcdctl ends what it prints with a newline of its own.
  return text.replace(/\n$/u, '')
}

async function revision(origin: string): Promise<number> {
  const { stdout } = await zone(['get', origin, '--json'])
  return (JSON.parse(stdout) as { revision: number }).revision
}

test('a zone that is put can be read again, byte for byte', async () => {
  const text = `${zoneText(['www A 192.0.2.80 ; ä'])}\r\n; end without newline`
  const file = sandbox.write('db.example.test', text)
  const first = await zone(['put', file])
  expect(first.stderr).toBe('')
  expect(first.stdout).toMatch(/^example\.test: new, 4 records, serial 1, stored as revision \d+\n$/u)
  expect(first.code).toBe(0)
  expect(await stored('/coredns/example.test')).toBe(text)
  expect((await zone(['get', 'EXAMPLE.test.'])).stdout).toBe(text)
  expect((await zone(['put', file])).stdout).toMatch(/^example\.test: unchanged, serial 1, revision \d+\n$/u)
})

test('a file with an error is refused with its place, and nothing of the others is stored', async () => {
  const good = sandbox.write('db.good.test', zoneText([]))
  const bad = sandbox.write('db.bad.test', zoneText(['www A 192.0.2.256']))
  const { code, stdout, stderr } = await zone(['put', good, bad])
  expect(code).toBe(3)
  expect(stdout).toBe('')
  expect(stderr).toContain(`${bad}:5:7: "192.0.2.256": expected`)
  expect(await stored('/coredns/good.test')).toBe('')
})

test('$INCLUDE is refused, as there is no file beside a key', async () => {
  sandbox.write('hosts', 'www A 192.0.2.80\n')
  const file = sandbox.write('db.example.test', zoneText(['$INCLUDE hosts']))
  expect(await zone(['put', file])).toMatchObject({ code: 3, stderr: expect.stringContaining('expected no $INCLUDE') })
})

test('a change is shown record by record, and a serial that stays is warned of', async () => {
  await put('/coredns/example.test', zoneText(['a A 192.0.2.1', 'b A 192.0.2.2', 'c A 192.0.2.3']))
  const file = sandbox.write('db.example.test', zoneText(['a A 192.0.2.10', 'b 300 IN A 192.0.2.2', 'd A 192.0.2.4']))
  const { stdout, stderr } = await zone(['put', file])
  expect(stdout.replace(/revision \d+/u, 'revision N')).toBe(
    [
      '- a.example.test. 300 IN A 192.0.2.1',
      '+ a.example.test. 300 IN A 192.0.2.10',
      '- c.example.test. 300 IN A 192.0.2.3',
      '+ d.example.test. 300 IN A 192.0.2.4',
      'example.test: 1 changed, 1 added, 1 removed, serial 1, stored as revision N',
      '',
    ].join('\n'),
  )
  expect(stderr).toBe(
    `${file}: warning: serial 1 is the one stored, although records differ; secondaries will not notice the change (--bump-serial raises it)\n`,
  )
})

test('--bump-serial raises the serial in the stored text and touches nothing else', async () => {
  const text = (serial: number, address: string) =>
    `; serial 7 stays here\n${zoneText([`a A ${address} ; 7`], serial).replace('hostmaster', 'hostmaster (')}`.replace(
      '86400 60',
      '86400 60 )',
    )
  await put('/coredns/example.test', text(7, '192.0.2.7'))
  const file = sandbox.write('db.example.test', text(5, '192.0.2.8'))
  const { stdout, stderr } = await zone(['put', '--bump-serial', file])
  expect(stderr).toBe('')
  expect(stdout).toContain('serial 7 → 8')
  expect(await stored('/coredns/example.test')).toBe(text(8, '192.0.2.8'))
  // Nothing changed but the file's serial is older: nothing to raise.
  const same = sandbox.write('db.example.test', `${text(8, '192.0.2.8')}; a comment\n`)
  expect((await zone(['put', '--bump-serial', same])).stdout).toContain('same records, other text, serial 8, stored')
})

test('--bump-serial raises nothing when the same file is put again', async () => {
  await put('/coredns/example.test', zoneText([]))
  const file = sandbox.write('db.example.test', zoneText(['a A 192.0.2.1']))
  expect((await zone(['put', '--bump-serial', file])).stdout).toContain('serial 1 → 2, stored')
  expect((await zone(['put', '--bump-serial', file])).stdout).toMatch(/^example\.test: unchanged, serial 2, revision/u)
})

test('--dry-run shows the same and stores nothing; --json says it all', async () => {
  await put('/coredns/example.test', zoneText([]))
  const before = await revision('example.test')
  const file = sandbox.write('db.example.test', zoneText(['a A 192.0.2.1'], 2))
  expect(await zone(['put', '--dry-run', file])).toEqual({
    code: 0,
    stdout: [
      '- example.test. 300 IN SOA ns.example.test. hostmaster.example.test. 1 3600 600 86400 60',
      '+ example.test. 300 IN SOA ns.example.test. hostmaster.example.test. 2 3600 600 86400 60',
      '+ a.example.test. 300 IN A 192.0.2.1',
      'example.test: 1 changed, 1 added, 0 removed, serial 1 → 2, not stored (--dry-run)',
      '',
    ].join('\n'),
    stderr: '',
  })
  expect(await revision('example.test')).toBe(before)
  const { stdout } = await zone(['put', '--json', file])
  expect(JSON.parse(stdout)).toEqual({
    zone: 'example.test.',
    key: '/coredns/example.test',
    revision: before + 1,
    serial: 2,
    stored: true,
    previous: { revision: before, serial: 1 },
    changed: [expect.objectContaining({ before: expect.stringContaining('SOA') })],
    added: ['a.example.test. 300 IN A 192.0.2.1'],
    removed: [],
    warnings: [],
  })
})

describe('two people', () => {
  test('who put at once: one wins, the others are told, and what is stored is what the winner put', async () => {
    await put('/coredns/example.test', zoneText([]))
    const start = await revision('example.test')
    const people = Array.from({ length: 8 }, (_, i) =>
      sandbox.write(`${i}/db.example.test`, zoneText([`p${i} A 192.0.2.${i}`], 2)),
    )
    const results = await Promise.all(people.map((file) => zone(['put', '--expect-revision', String(start), file])))
    const winners = results.flatMap(({ code }, i) => (code === 0 ? [i] : []))
    expect(winners).toHaveLength(1)
    expect(await stored('/coredns/example.test')).toContain(`p${winners[0]} A`)
    for (const { code, stderr } of results.filter((_, i) => i !== winners[0])) {
      expect(code).toBe(1)
      expect(stderr).toContain(
        `Cannot store zone "example.test": it was at revision ${start} and is at revision ${start + 1} now`,
      )
      expect(stderr).toContain(`+ p${winners[0]}.example.test. 300 IN A 192.0.2.${winners[0]}\n`)
    }
  })

  test('who put at once without naming a revision do not overwrite what they did not see', async () => {
    await put('/coredns/example.test', zoneText([]))
    const start = await revision('example.test')
    const people = Array.from({ length: 8 }, (_, i) =>
      sandbox.write(`${i}/db.example.test`, zoneText([`p${i} A 192.0.2.${i}`], 2)),
    )
    const results = await Promise.all(people.map((file) => zone(['put', '--json', file])))
    const stored = results.flatMap(({ code, stdout }) => (code === 0 ? [JSON.parse(stdout) as PutJson] : []))
    expect(stored.length).toBeGreaterThan(0)
    // Each one that was stored stands on the one before it.
    stored.sort((a, b) => a.revision - b.revision)
    expect(stored.map(({ previous }) => previous.revision)).toEqual([
      start,
      ...stored.map((each) => each.revision).slice(0, -1),
    ])
    for (const { stderr } of results.filter(({ code }) => code !== 0))
      expect(stderr).toContain('somebody else changed it')
  })

  test('who both make a new zone: --expect-revision 0 lets one', async () => {
    const file = sandbox.write('db.example.test', zoneText([]))
    expect((await zone(['put', '--expect-revision', '0', file])).code).toBe(0)
    const second = await zone(['put', '--expect-revision', '0', file])
    expect(second.code).toBe(1)
    expect(second.stderr).toContain('it was not there and is at revision')
  })
})

interface PutJson {
  readonly revision: number
  readonly previous: { readonly revision: number }
}

test('several zones are stored in one transaction', async () => {
  const files = ['a', 'b', 'c'].map((name) => sandbox.write(`db.${name}.test`, zoneText([])))
  const { stdout } = await zone(['put', ...files, '--json'])
  const revisions = stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as PutJson).revision)
  expect(revisions).toHaveLength(3)
  expect(new Set(revisions).size).toBe(1)
})

test('a zone that is too large is told so', async () => {
  const filler = `; ${'x'.repeat(1000)}\n`.repeat(1700)
  const file = sandbox.write('db.large.test', zoneText([]) + filler)
  const { code, stderr } = await zone(['put', file])
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /Cannot store zone "large\.test": its \d+ bytes are more than etcd takes at once; .*--max-request-bytes/u,
  )
})

test('a zone may come from stdin', async () => {
  expect((await zone(['put', 'Example.TEST.', '-'], { stdin: zoneText([]) })).stdout).toContain('example.test: ')
  expect((await zone(['put', '--origin', 'other.test', '-'], { stdin: zoneText([]) })).code).toBe(0)
  expect(await stored('/coredns/example.test')).toBe(zoneText([]))
  expect(await zone(['put', '-'], { stdin: zoneText([]) })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('which zone'),
  })
})

test('the last slash of the prefix may be missing', async () => {
  expect((await zone(['put', '--prefix', '/mine', sandbox.write('db.a.test', zoneText([]))])).code).toBe(0)
  expect(await stored('/mine/a.test')).toBe(zoneText([]))
})

test('the prefix is a flag, a variable, or /coredns/', async () => {
  const file = sandbox.write('db.example.test', zoneText([]))
  await zone(['put', '--prefix', '/one/', file])
  await zone(['put', file], { env: { ETCD_KEY_PREFIX: '/two/' } })
  expect(await stored('/one/example.test')).toBe(zoneText([]))
  expect(await stored('/two/example.test')).toBe(zoneText([]))
  expect(await stored('/coredns/example.test')).toBe('')
})

test('ls shows each zone with what the server would say of it', async () => {
  await put('/coredns/a.test', zoneText(['www A 192.0.2.1'], 7))
  await put('/coredns/b.test', zoneText(['www A nowhere']))
  await put('/coredns/c.test', '$TTL 1h\n@ NS ns\n')
  await put('/coredns/c..test', zoneText([]))
  await put('/coredns/A.TEST.', zoneText([]))
  const { stdout, code } = await zone(['ls'])
  const lines = stdout.trimEnd().split('\n')
  expect(code).toBe(0)
  expect(lines[0]).toMatch(/^ZONE\s+SERIAL\s+RECORDS\s+BYTES\s+REVISION\s+STATE$/u)
  expect(lines[1]).toMatch(/^a\.test\.\s+1\s+3\s+\d+\s+\d+\s+ok$/u)
  expect(lines[2]).toMatch(/^a\.test\.\s+-\s+-\s+\d+\s+\d+\s+error: the key "A\.TEST\." names the same zone$/u)
  expect(lines[3]).toMatch(/^b\.test\.\s+-\s+-.*error: 5:7: "nowhere": expected/u)
  expect(lines[4]).toMatch(/^\/coredns\/c\.\.test\s+-\s+-.*error: the key is not a domain name$/u)
  expect(lines[5]).toMatch(/^c\.test\.\s+-\s+-.*error: no SOA record at c\.test\./u)
  const json = (await zone(['ls', '--json'])).stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  expect(json[0]).toEqual({
    zone: 'a.test.',
    key: '/coredns/A.TEST.',
    revision: expect.any(Number),
    bytes: zoneText([]).length,
    serial: 1,
    records: 3,
    error: null,
  })
})

test('check looks at stored zones too, with every problem', async () => {
  await put('/coredns/a.test', zoneText([]))
  await put('/coredns/b.test', zoneText(['www A nowhere', 'web A nowhere']))
  const all = await zone(['check', '--etcd'])
  expect(all.code).toBe(3)
  expect(all.stdout).toBe('etcd:/coredns/a.test: zone a.test., serial 1, 3 records\n')
  expect(all.stderr.match(/^etcd:\/coredns\/b\.test:\d:7: "nowhere"/gmu)).toHaveLength(2)
  expect((await zone(['check', '--etcd', 'a.test'])).code).toBe(0)
})

test('two keys of one zone are told apart by their exact spelling', async () => {
  await put('/coredns/example.test', 'one')
  await put('/coredns/Example.test.', 'two')
  expect((await zone(['get', 'example.test'])).stdout).toBe('one')
  expect((await zone(['get', 'Example.test.'])).stdout).toBe('two')
  const { code, stderr } = await zone(['get', 'EXAMPLE.test'])
  expect(code).toBe(1)
  expect(stderr).toContain('Cannot choose zone "EXAMPLE.test": the keys "Example.test." and "example.test" name it')
})

test('keys that the server refuses are no zones here either, and do not steer the terminal', async () => {
  for (const name of ['@', 'two words.test', 'red\u001b[31m.test']) await put(`/coredns/${name}`, zoneText([]))
  await put(`/coredns/${'x'.repeat(300)}`, zoneText([]))
  const listed = (await zone(['ls'])).stdout
  expect(listed.match(/error: the key is not a domain name$/gmu)).toHaveLength(4)
  const checked = await zone(['check', '--etcd'])
  const removed = await zone(['rm', '--yes', 'red\u001b[31m.test'])
  const missing = await zone(['get', 'red\u001b[32m.test'])
  expect([checked, removed, missing].map(({ code }) => code)).toEqual([3, 0, 1])
  const printed = [listed, checked.stderr, removed.stdout, missing.stderr].join('')
  expect(printed).toContain('red?[31m.test')
  expect(printed).not.toMatch(/[^\n -~…]/u)
  expect(Math.max(...listed.split('\n').map((line) => line.length))).toBeLessThan(200)
  expect((await zone(['put', '@', '-'], { stdin: zoneText([]) })).stderr).toContain('Cannot read the name "@"')
})

test('what is not there is said, with the one that may be meant', async () => {
  await put('/coredns/example.test', zoneText([]))
  const { code, stderr } = await zone(['get', 'exmaple.test'])
  expect(code).toBe(1)
  expect(stderr).toContain(
    'Cannot find zone "exmaple.test": no key under "/coredns/" names it; did you mean "example.test"?',
  )
})

test('diff has exit code 4 when records differ', async () => {
  await put('/coredns/example.test', zoneText(['a A 192.0.2.1']))
  const file = sandbox.write('file', zoneText(['a 5m A 192.0.2.1']))
  expect(await zone(['diff', 'example.test', file])).toEqual({ code: 0, stdout: '', stderr: '' })
  const other = sandbox.write('other', zoneText([]))
  expect(await zone(['diff', 'example.test', other])).toEqual({
    code: 4,
    stdout: '- a.example.test. 300 IN A 192.0.2.1\n',
    stderr: '',
  })
  expect(JSON.parse((await zone(['diff', 'new.test', other, '--json'])).stdout)).toMatchObject({ added: { length: 3 } })
  expect((await zone(['diff', 'example.test', '-'], { stdin: 'nothing' })).code).toBe(3)
})

describe('rm', () => {
  test('asks, and removes only what was agreed to', async () => {
    await put('/coredns/example.test', zoneText([]))
    const no = await zone(['rm', 'example.test'], { terminal: true, stdin: 'n\n' })
    expect(no).toMatchObject({ code: 1, stdout: '' })
    expect(no.stderr).toContain('Remove example.test? [y/N]')
    expect(await stored('/coredns/example.test')).not.toBe('')
    const yes = await zone(['rm', 'Example.test'], { terminal: true, stdin: 'yes\n' })
    expect(yes.code).toBe(0)
    expect(yes.stdout).toMatch(/^example\.test: removed, it had revision \d+\n$/u)
    expect(await stored('/coredns/example.test')).toBe('')
  })

  test('needs --yes where nobody can be asked, and all zones to be there', async () => {
    await put('/coredns/a.test', zoneText([]))
    expect(await zone(['rm', 'a.test'])).toMatchObject({ code: 2, stderr: expect.stringContaining('use --yes') })
    expect((await zone(['rm', '--yes', 'a.test', 'b.test'])).code).toBe(1)
    expect((await zone(['rm', '--dry-run', 'a.test'])).stdout).toContain('a.test: would be removed')
    expect(await stored('/coredns/a.test')).not.toBe('')
    expect(JSON.parse((await zone(['rm', '--yes', '--json', 'a.test'])).stdout)).toMatchObject({
      zone: 'a.test.',
      removed: true,
    })
  })

  test('removes nothing that was changed while it asked', async () => {
    await put('/coredns/example.test', zoneText([]))
    const { io, printed } = collectingIo({ env: { ETCDCTL_ENDPOINTS: etcd.endpoints.join(',') } })
    const stdin = Object.assign(new PassThrough(), { isTTY: true })
    const removing = run(['zone', 'rm', 'example.test'], { ...io, stdin })
    await until('the question', () => printed.stderr.includes('Remove example.test?'))
    await put('/coredns/example.test', zoneText([], 2))
    stdin.write('y\n')
    expect(await removing).toBe(1)
    expect(printed.stderr).toContain(
      'Cannot remove example.test: changed by somebody else meanwhile; nothing was removed',
    )
    expect(await stored('/coredns/example.test')).toBe(zoneText([], 2))
  })

  test('of more zones than etcd takes at once removes none, and says so', async () => {
    const names = Array.from({ length: 129 }, (_, index) => `z${index}.test`)
    const files = names.map((name) => sandbox.write(`db.${name}`, zoneText([])))
    expect((await zone(['put', ...files])).code).toBe(0)
    const { code, stderr } = await zone(['rm', '--yes', ...names])
    expect(code).toBe(1)
    expect(stderr).toBe(
      'holdfast: Cannot remove 129 zones (z0.test, z1.test, z2.test, z3.test, z4.test, …): 129 changes are more than etcd takes at once; expected fewer, or an etcd with a larger --max-txn-ops [EtcdFailed]\n',
    )
    expect((await zone(['ls', '--json'])).stdout.trimEnd().split('\n')).toHaveLength(129)
  })

  test('removes a key that is no domain name when it is given exactly', async () => {
    await put('/coredns/a..test', 'x')
    expect((await zone(['rm', '--yes', 'a..test'])).code).toBe(0)
    expect(await stored('/coredns/a..test')).toBe('')
  })
})

describe('where etcd refuses', () => {
  test.each([['ls'], ['get', 'a.test'], ['rm', '--yes', 'a.test']])('"zone %s" is one line', async (...argv) => {
    const { code, stderr } = await holdfast(['zone', ...argv, '--endpoints', '127.0.0.1:1'])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^holdfast: Cannot read "\/coredns\/.*": etcd at "http:\/\/127\.0\.0\.1:1" refuses connections; .*\n$/u,
    )
  })
})
