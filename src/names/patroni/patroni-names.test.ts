import { describe, expect, test } from 'vitest'
import { formatName } from '../../dns/name.ts'
import { formatRdata } from '../../dns/rdata/rdata.ts'
import { typeName } from '../../dns/types.ts'
import { patroniPrefix } from './cluster-keys.ts'
import { patroniNames } from './patroni-names.ts'

type Keys = Record<string, unknown>

function publish(keys: Keys): { names: Record<string, string[]>; problems: readonly string[] } {
  const bytes = Object.entries(keys).map(([key, value]): [string, Uint8Array] => {
    return [key, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))]
  })
  const { names, problems } = patroniNames(new Map(bytes), { zone: 'db.example.', ttlSeconds: 2 })
  const text = names.map(({ owner, records }): [string, string[]] => {
    expect(records.every(({ ttl }) => ttl === 2)).toBe(true)
    return [formatName(owner), records.map(({ type, rdata }) => `${typeName(type)} ${formatRdata(type, rdata)}`)]
  })
  expect(new Set(text.map(([owner]) => owner.toLowerCase())).size).toBe(text.length)
  return { names: Object.fromEntries(text), problems }
}

/** As Patroni 3.0.2 writes it. */
function member(number: number, role: string, more: Keys = {}): Keys {
  return {
    conn_url: `postgres://10.0.0.${number}:5432/postgres`,
    api_url: `http://10.0.0.${number}:8008/patroni`,
    state: 'running',
    role,
    version: '3.0.2',
    xlog_location: 67109184,
    timeline: 1,
    ...more,
  }
}

/** Of Patroni 3.0.2 with synchronous mode, all well. */
const cluster: Keys = {
  config: { ttl: 30, loop_wait: 10, retry_timeout: 10, synchronous_mode: true, postgresql: { use_pg_rewind: true } },
  history: '[]',
  initialize: '7301458763465827365',
  leader: 'pg1',
  'members/pg1': member(1, 'master'),
  'members/pg2': member(2, 'replica'),
  'members/pg3': member(3, 'replica'),
  status: { optime: 67109184 },
  sync: { leader: 'pg1', sync_standby: 'pg2' },
}

const members = {
  'pg1.db.example.': ['A 10.0.0.1'],
  'pg2.db.example.': ['A 10.0.0.2'],
  'pg3.db.example.': ['A 10.0.0.3'],
}

describe('the names of a cluster', () => {
  test('are those of the primary, the replicas, the synchronous ones and each member', () => {
    expect(publish(cluster)).toEqual({
      names: {
        'primary.db.example.': ['A 10.0.0.1'],
        'replica.db.example.': ['A 10.0.0.2', 'A 10.0.0.3'],
        'sync.db.example.': ['A 10.0.0.2'],
        ...members,
      },
      problems: [],
    })
  })

  test('are the same for Patroni 4, which says primary and tells more', () => {
    const v4 = (number: number, role: string, more: Keys) => member(number, role, { version: '4.0.4', ...more })
    const streaming = { replication_state: 'streaming', receive_lsn: 67109184, replay_lsn: 67109184 }
    const keys = {
      ...cluster,
      failsafe: { pg1: 'http://10.0.0.1:8008/patroni', pg2: 'http://10.0.0.2:8008/patroni' },
      'members/pg1': v4(1, 'primary', { pending_restart: true, proxy_url: 'postgres://10.0.0.9:6432/postgres' }),
      'members/pg2': v4(2, 'replica', streaming),
      'members/pg3': v4(3, 'replica', { ...streaming, replication_state: 'in archive recovery' }),
      status: { optime: 67109184, slots: { pg1: 67109184 }, retain_slots: ['pg1', 'pg2', 'pg3'] },
      sync: { leader: 'pg1', quorum: 1, sync_standby: 'pg2,pg3' },
    }
    expect(publish(keys)).toEqual({
      names: {
        'primary.db.example.': ['A 10.0.0.1'],
        'replica.db.example.': ['A 10.0.0.2', 'A 10.0.0.3'],
        'sync.db.example.': ['A 10.0.0.2', 'A 10.0.0.3'],
        ...members,
      },
      problems: [],
    })
  })

  test('are none when there are no keys', () => {
    expect(publish({})).toEqual({ names: {}, problems: [] })
  })

  test('have no primary while nobody leads, and replicas all the same', () => {
    const { leader: _, ...leaderless } = cluster
    const { names } = publish(leaderless)
    expect(Object.keys(names)).toEqual(['replica.db.example.', 'sync.db.example.', ...Object.keys(members)])
  })

  test('follow the leader key at once, before the member says that it is promoted', () => {
    const { 'members/pg1': _, ...left } = cluster
    const { names } = publish({ ...left, leader: 'pg2' })
    expect(names['primary.db.example.']).toEqual(['A 10.0.0.2'])
    expect(names['replica.db.example.']).toEqual(['A 10.0.0.3'])
    expect(names['sync.db.example.']).toBeUndefined()
  })

  test('have no primary when the leader key names a member that is not there', () => {
    const { names, problems } = publish({ ...cluster, leader: 'pg9' })
    expect(names['primary.db.example.']).toBeUndefined()
    expect(problems).toEqual([])
  })

  test('have no primary in a standby cluster, whose leader takes no writes', () => {
    expect(
      publish({ ...cluster, 'members/pg1': member(1, 'standby_leader') }).names['primary.db.example.'],
    ).toBeUndefined()
    const config = { standby_cluster: { host: '10.9.9.9', port: 5432 } }
    const { names } = publish({ ...cluster, config, 'members/pg1': member(1, 'replica') })
    expect(names['primary.db.example.']).toBeUndefined()
    expect(names['replica.db.example.']).toEqual(['A 10.0.0.2', 'A 10.0.0.3'])
    expect(publish({ ...cluster, config: { standby_cluster: null } }).names['primary.db.example.']).toBeDefined()
  })
})

describe('a replica', () => {
  const replica = (more: Keys) =>
    publish({ ...cluster, 'members/pg3': member(3, 'replica', more) }).names['replica.db.example.']

  test.each([
    'starting',
    'stopping',
    'stopped',
    'crashed',
    'creating replica',
    'restarting',
    'start failed',
    undefined,
  ])('in state %s takes no reads', (state) => {
    expect(replica({ state })).toEqual(['A 10.0.0.2'])
  })

  test.each(['demoted', 'promoted', 'uninitialized', 'master', 'primary', 'standby_leader', undefined])(
    'is no member in role %s',
    (role) => {
      expect(replica({ role })).toEqual(['A 10.0.0.2'])
    },
  )

  test('with the tag noloadbalance takes no reads, with others it does', () => {
    expect(replica({ tags: { noloadbalance: true } })).toEqual(['A 10.0.0.2'])
    expect(replica({ tags: { noloadbalance: false, nofailover: true } })).toEqual(['A 10.0.0.2', 'A 10.0.0.3'])
    expect(replica({ tags: null })).toEqual(['A 10.0.0.2', 'A 10.0.0.3'])
  })

  test('keeps its own name in any state', () => {
    const { names } = publish({ ...cluster, 'members/pg3': member(3, 'uninitialized', { state: 'stopped' }) })
    expect(names['pg3.db.example.']).toEqual(['A 10.0.0.3'])
  })
})

describe('synchronous standbys', () => {
  const sync = (value: unknown) => publish({ ...cluster, sync: value }).names['sync.db.example.']

  test('are read from a list, in any case of letters', () => {
    expect(sync({ leader: 'pg1', sync_standby: 'PG3, pg2' })).toEqual(['A 10.0.0.2', 'A 10.0.0.3'])
  })

  test.each([
    [{ leader: 'pg1', sync_standby: null }],
    [{ leader: 'pg1', sync_standby: '' }],
    [{ leader: null, sync_standby: 'pg2' }],
    [{ leader: 'pg1', sync_standby: 'pg1,pg7' }],
    [[]],
    ['{'],
  ])('are none with %j', (value) => {
    expect(sync(value)).toBeUndefined()
  })
})

describe('a host', () => {
  const at = (number: number, host: string, role = 'replica') =>
    member(number, role, { conn_url: `postgres://${host}:5432/postgres` })

  test('may have addresses of both families', () => {
    const { names } = publish({ ...cluster, 'members/pg1': at(1, '10.0.0.1,[fd00::1]', 'master') })
    expect(names['primary.db.example.']).toEqual(['A 10.0.0.1', 'AAAA fd00::1'])
  })

  test('that two members share is named once', () => {
    const { names, problems } = publish({ ...cluster, 'members/pg3': at(3, '10.0.0.2') })
    expect(names['replica.db.example.']).toEqual(['A 10.0.0.2'])
    expect(problems).toEqual([])
  })

  test('with a name becomes a CNAME where it is the only one', () => {
    const { names, problems } = publish({
      ...cluster,
      'members/pg1': at(1, 'a.dc.example', 'master'),
      'members/pg2': at(2, 'b.dc.example'),
      'members/pg3': at(3, 'c.dc.example'),
    })
    expect(names).toEqual({
      'primary.db.example.': ['CNAME a.dc.example.'],
      'replica.db.example.': ['CNAME b.dc.example.'],
      'sync.db.example.': ['CNAME b.dc.example.'],
      'pg1.db.example.': ['CNAME a.dc.example.'],
      'pg2.db.example.': ['CNAME b.dc.example.'],
      'pg3.db.example.': ['CNAME c.dc.example.'],
    })
    expect(problems).toEqual([
      'Cannot publish all of "replica.db.example.": there can be but one CNAME, so c.dc.example. is left out; let every connect_address be an address',
    ])
  })

  test('with a name is left out beside addresses', () => {
    const { names, problems } = publish({ ...cluster, 'members/pg2': at(2, 'b.dc.example') })
    expect(names['replica.db.example.']).toEqual(['A 10.0.0.3'])
    expect(problems).toEqual([
      'Cannot publish all of "replica.db.example.": a CNAME cannot stand beside addresses, so b.dc.example. is left out; let every connect_address be an address',
    ])
  })

  test('with the very name that the member has here is no alias of itself', () => {
    const { names, problems } = publish({ leader: 'pg1', 'members/pg1': at(1, 'PG1.db.example', 'master') })
    expect(names).toEqual({ 'primary.db.example.': ['CNAME PG1.db.example.'] })
    expect(problems).toEqual([])
  })
})

describe('a member that cannot be published', () => {
  test.each([['{'], ['[]'], ['null'], ['{}'], ['{"conn_url": 5}'], ['postgres://u:secret@10.0.0.2/postgres']])(
    'because its value is %s harms nobody else',
    (value) => {
      const { names, problems } = publish({ ...cluster, 'members/pg2': value })
      expect(names).toEqual({
        'primary.db.example.': ['A 10.0.0.1'],
        'replica.db.example.': ['A 10.0.0.3'],
        'pg1.db.example.': ['A 10.0.0.1'],
        'pg3.db.example.': ['A 10.0.0.3'],
      })
      expect(problems).toEqual([
        'Cannot publish member "pg2" of db.example.: its key in etcd is not a JSON object with a conn_url',
      ])
    },
  )

  test('because of its conn_url is a problem that does not show it', () => {
    const { names, problems } = publish({
      ...cluster,
      'members/pg1': member(1, 'master', { conn_url: 'postgres://u:secret@%2Ftmp/postgres' }),
    })
    expect(names['primary.db.example.']).toBeUndefined()
    expect(problems).toEqual([
      'Cannot publish member "pg1" of db.example.: its conn_url names a Unix socket; set postgresql.connect_address to an address and a port',
    ])
  })

  test.each([
    ['pg 2', 'the name is no DNS label; expected letters, digits, - and _'],
    ['pg2.dc1', 'the name is no DNS label; expected letters, digits, - and _'],
    ['x'.repeat(64), 'the name is no DNS label; expected letters, digits, - and _'],
    ['\u212A', 'the name is no DNS label; expected letters, digits, - and _'],
    ['Primary', 'the name is taken: primary.db.example. stands for the service'],
    ['PG1', 'another member differs only in upper and lower case'],
  ])('under its own name %s counts all the same', (name, problem) => {
    const { 'members/pg2': _, ...others } = cluster
    const { names, problems } = publish({ ...others, [`members/${name}`]: member(2, 'replica') })
    expect(names['replica.db.example.']?.toSorted()).toEqual(['A 10.0.0.2', 'A 10.0.0.3'])
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(problem)
  })

  test('with an underscore in its name is no problem', () => {
    const { names, problems } = publish({ 'members/pg_2-a': member(2, 'replica') })
    expect(names['pg_2-a.db.example.']).toEqual(['A 10.0.0.2'])
    expect(problems).toEqual([])
  })
})

test('keys are looked for where Patroni puts them', () => {
  expect(patroniPrefix('/service/', 'batman')).toBe('/service/batman/')
  expect(patroniPrefix('service', 'batman')).toBe('/service/batman/')
  expect(patroniPrefix('/', 'batman')).toBe('/batman/')
  expect(patroniPrefix('/a//b/', 'batman')).toBe('/a/b/batman/')
})
