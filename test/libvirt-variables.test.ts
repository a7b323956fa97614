// docs/guide/libvirt-variables.md has every variable of the modules that people make virtual machines with now, and no other; and the stack
// file takes each of them where a machine stands.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { load } from '../src/stack/load/testing.ts'
import { stackSchema } from '../src/stack/schema.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../docs/guide/libvirt-variables.md'), 'utf8')

/** A variable has the variables of its map below it, or stands for itself. */
interface Variables {
  readonly [name: string]: Variables | true
}

const of = (names: string): Variables => Object.fromEntries(names.split(' ').map((name) => [name, true]))

const MACVTAP = of('interface prefix_length ip mac gateway dns_servers')
const SOURCE = of('url options')
const FORWARD = of('domain port hostname shared_key ca_cert')
const CLIENT = of('certificate key username password')

const MACHINE: Variables = {
  ...of('name vcpus memory volume_id cloud_init_volume_pool cloud_init_volume_name'),
  ...of('ssh_admin_user admin_user_password ssh_admin_public_key install_dependencies'),
  libvirt_network: of('ip mac network_id network_name'),
  macvtap_interfaces: MACVTAP,
  chrony: { enabled: true, servers: SOURCE, pools: SOURCE, makestep: of('threshold limit') },
}
const FLUENTD: Variables = {
  ...of('enabled node_exporter_tag'),
  forward: FORWARD,
  buffer: of('customized custom_value'),
}

const MODULES: Readonly<Record<string, Variables>> = {
  'Name servers': {
    ...MACHINE,
    etcd: { ...of('ca_certificate key_prefix endpoints'), client: CLIENT },
    dns: of('zonefiles_reload_interval load_balance_records alternate_dns_servers'),
    fluentd: { ...FLUENTD, ...of('coredns_tag coredns_updater_tag') },
  },
  etcd: {
    ...MACHINE,
    data_volume_id: true,
    libvirt_network: of('network_id network_name ip mac prefix_length gateway dns_servers'),
    // What the example of its document calls it.
    libvirt_networks: true,
    etcd: of('auto_compaction_mode auto_compaction_retention space_quota grpc_gateway_enabled client_cert_auth'),
    authentication_bootstrap: of('bootstrap root_password'),
    cluster: { ...of('is_initializing initial_token'), initial_members: of('ip name') },
    tls: of('ca_cert server_cert server_key'),
    fluentbit: {
      ...of('enabled etcd_tag node_exporter_tag'),
      forward: FORWARD,
      etcd: { ...of('enabled key_prefix endpoints ca_certificate'), client: CLIENT },
    },
  },
  PostgreSQL: {
    ...MACHINE,
    data_volume_id: true,
    postgres: {
      params: of('key value'),
      ...of('replicator_password superuser_password'),
      ca: of('key key_algorithmn certificate'),
      certificate: of('domains extra_ips organization validity_period early_renewal_period'),
    },
    etcd: of('endpoints ca_cert username password'),
    patroni: {
      ...of('scope namespace name ttl loop_wait retry_timeout master_start_timeout master_stop_timeout'),
      ...of('watchdog_safety_margin synchronous_node_count'),
    },
    fluentd: { ...FLUENTD, patroni_tag: true },
  },
}

const SHARED = ['Every machine', 'Logs, by fluentd or fluent-bit']

function pathsOf(variables: Variables, before = ''): string[] {
  return Object.entries(variables).flatMap(([name, below]) => [
    `${before}${name}`,
    ...(below === true ? [] : pathsOf(below, `${before}${name}.`)),
  ])
}

/** Rows of the tables below a heading. */
function rowsOf(heading: string): string[][] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`)
  const lines = section.split('\n## ')[0].split('\n')
  return lines
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim()),
    )
}

const variablesIn = (heading: string) => rowsOf(heading).map(([variable]) => variable.replaceAll('`', ''))

describe.each(Object.entries(MODULES))('%s', (heading, variables) => {
  const documented = new Set([heading, ...SHARED].flatMap(variablesIn))

  test.each(pathsOf(variables))('%s is in the table', (path) => {
    expect(documented).toContain(path)
  })

  test('has no variable in its own table that the module does not have', () => {
    const known = pathsOf(variables)
    expect(variablesIn(heading).filter((path) => !known.includes(path))).toEqual([])
  })
})

test('tables that machines share have no variable that no module has', () => {
  const known = new Set(Object.values(MODULES).flatMap((variables) => pathsOf(variables)))
  expect(SHARED.flatMap(variablesIn).filter((path) => !known.has(path))).toEqual([])
})

test('every row has a default and says what the variable becomes', () => {
  const rows = [...SHARED, ...Object.keys(MODULES)].flatMap(rowsOf)
  expect(rows.length).toBeGreaterThan(130)
  for (const row of rows) expect(row.filter(Boolean)).toHaveLength(3)
})

/** As docs/reference/stack.schema.json has them. */
interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly definitions?: Readonly<Record<string, Schema>>
  readonly default?: unknown
}

const SCHEMA = JSON.parse(
  readFileSync(join(import.meta.dirname, '../docs/reference/stack.schema.json'), 'utf8'),
) as Schema
const DEFINITIONS: Readonly<Record<string, string>> = {
  'Name servers': 'dns-server',
  etcd: 'etcd-member',
  PostgreSQL: 'postgres-member',
}

function definition(name = ''): Schema[] {
  const found = SCHEMA.definitions?.[name.replace('#/definitions/', '')]
  return found === undefined ? [] : withParts(found)
}

/** A schema, and those that it is made of. */
function withParts(schema: Schema): Schema[] {
  const { items, anyOf = [], allOf = [] } = schema
  const parts = [...(items === undefined ? [] : [items]), ...anyOf, ...allOf].flatMap(withParts)
  return [schema, ...parts, ...definition(schema.$ref)]
}

/** The default of a variable in the schema of a machine; undefined where it has none. */
function schemaDefault(path: string, kind: string): unknown {
  const found = path
    .split('.')
    .reduce<Schema[]>(
      (schemas, name) => schemas.flatMap(({ properties }) => properties?.[name] ?? []).flatMap(withParts),
      definition(DEFINITIONS[kind]),
    )
  return found.find((schema) => schema.default !== undefined)?.default
}

/** How the page writes a default. */
function written(value: unknown): string {
  if (value === undefined || value === '') return '–'
  if (value === 8 * 1024 ** 3) return '8 GiB'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^\d+$/u.test(text) ? text : `\`${text}\``
}

describe.each([...SHARED, ...Object.keys(MODULES)])('defaults of "%s"', (heading) => {
  const kinds = SHARED.includes(heading) ? Object.keys(MODULES) : [heading]

  test('are those of the stack file, wherever that has one', () => {
    const compared = rowsOf(heading).flatMap(([variable, told]) => {
      const path = variable.replaceAll('`', '')
      const defaults = kinds.map((kind) => schemaDefault(path, kind)).filter((value) => value !== undefined)
      // What follows a comma limits it.
      return [...new Set(defaults.map(written))].map((wanted) => [path, told.split(',')[0], wanted])
    })
    expect(compared.length).toBeGreaterThan(2)
    for (const [path, told, wanted] of compared) expect([path, told]).toEqual([path, wanted])
  })
})

const PEM = '-----BEGIN CERTIFICATE-----'
const MAKESTEP = { threshold: 1, limit: 3 }
const forward = { domain: '10.0.0.9', port: 24_224, hostname: 'a', shared_key: 'key', ca_cert: PEM }

function machine(name: string, address: number, isListed: boolean) {
  const [mac, other] = [`52:54:00:00:00:${address}`, `52:54:00:00:01:${address}`]
  const interfaces = { prefix_length: 24, gateway: '10.0.1.1', dns_servers: ['10.0.1.1'] }
  const network = { network_id: 'b10c1bda-f608-4780-9cfb-574c2271a193', network_name: '', ip: `10.0.0.${address}`, mac }
  return {
    ...{ name, vcpus: 1, memory: 1024, volume_id: `/pool/${name}`, cloud_init_volume_pool: 'default' },
    ...{
      cloud_init_volume_name: '',
      ssh_admin_user: 'ubuntu',
      admin_user_password: 'mock',
      ssh_admin_public_key: 'ssh-ed25519 A',
    },
    libvirt_network: isListed ? [{ ...network, ...interfaces }] : network,
    macvtap_interfaces: [{ interface: 'ens3', ip: `10.0.1.${address}`, mac: other, ...interfaces }],
    chrony: {
      enabled: true,
      servers: [{ url: '10.0.0.1', options: ['iburst'] }],
      pools: [{ url: 'pool.test', options: [] }],
      makestep: MAKESTEP,
    },
    install_dependencies: false,
  }
}

const fluentd = {
  ...{ enabled: true, node_exporter_tag: 'n', forward },
  buffer: { customized: true, custom_value: '<buffer>\n</buffer>' },
}
const byCertificate = { certificate: PEM, key: 'key' }
const byPassword = { username: 'user', password: 'word' }

function entries(client: object) {
  return {
    dns: {
      ...machine('coredns-1', 10, false),
      etcd: { ca_certificate: PEM, key_prefix: '/coredns/', endpoints: ['10.0.0.21:2379'], client },
      dns: { zonefiles_reload_interval: '3s', load_balance_records: true, alternate_dns_servers: ['8.8.8.8'] },
      fluentd: { ...fluentd, coredns_tag: 'c', coredns_updater_tag: 'u' },
    },
    etcd: {
      ...machine('etcd-1', 21, true),
      data_volume_id: '/pool/etcd-1-data',
      etcd: {
        ...{ auto_compaction_mode: 'revision', auto_compaction_retention: 1000, space_quota: 8 * 1024 ** 3 },
        ...{ grpc_gateway_enabled: true, client_cert_auth: false },
      },
      authentication_bootstrap: { bootstrap: true, root_password: 'root' },
      cluster: {
        ...{ is_initializing: true, initial_token: 'token' },
        initial_members: [{ ip: '10.0.0.21', name: 'etcd-1' }],
      },
      fluentbit: {
        ...{ enabled: true, etcd_tag: 'e', node_exporter_tag: 'n', forward },
        etcd: { enabled: true, key_prefix: '/fb/', endpoints: ['10.0.0.21:2379'], ca_certificate: PEM, client },
      },
    },
    postgres: {
      ...machine('postgres-1', 31, false),
      data_volume_id: '/pool/postgres-1-data',
      postgres: {
        ...{ params: [{ key: 'work_mem', value: '4MB' }], replicator_password: 'a', superuser_password: 'b' },
        certificate: {
          ...{ domains: ['db.test'], extra_ips: ['10.0.0.99'], organization: 'Ours' },
          ...{ validity_period: 1000, early_renewal_period: 100 },
        },
      },
      etcd: { endpoints: ['10.0.0.21:2379'], ca_cert: PEM, username: 'patroni', password: 'word' },
      patroni: {
        ...{ scope: 'patroni', namespace: '/patroni/', name: 'postgres-1', ttl: 60, loop_wait: 5, retry_timeout: 10 },
        ...{
          master_start_timeout: 300,
          master_stop_timeout: 300,
          watchdog_safety_margin: -1,
          synchronous_node_count: 1,
        },
      },
      fluentd: { ...fluentd, patroni_tag: 'p' },
    },
  }
}

function has(value: unknown, path: string): boolean {
  return (
    path.split('.').reduce<unknown>((found, name) => {
      const one = Array.isArray(found) ? found[0] : found
      return (one as Record<string, unknown> | undefined)?.[name]
    }, value) !== undefined
  )
}

describe.each([
  ['a certificate', byCertificate],
  ['a password', byPassword],
])('a stack file whose clients have %s', (_, client) => {
  const { etcd, dns, postgres } = entries(client)
  const stackOf = (member: object) => ({
    ...{ name: 'lab', domain: 'lab.test', target: 'libvirt' },
    etcd: { members: [member] },
    dns: { servers: [dns] },
    postgres: { members: [postgres, machine('postgres-2', 32, false)] },
  })

  test('is taken with every variable at its machines', () => {
    const tls = { ca_cert: PEM, server_cert: PEM, server_key: 'key' }
    const ca = { key: 'key', key_algorithmn: 'ECDSA', certificate: PEM }
    const stack = stackOf({ ...etcd, tls, libvirt_networks: etcd.libvirt_network })
    const member = { ...postgres, postgres: { ...postgres.postgres, ca } }
    const parsed = stackSchema.safeParse({ ...stack, postgres: { members: [member] } })
    expect(parsed.error).toBeUndefined()
    const given: Readonly<Record<string, object>> = {
      etcd: stack.etcd.members[0],
      'Name servers': dns,
      PostgreSQL: member,
    }
    for (const [heading, variables] of Object.entries(MODULES)) {
      const missing = pathsOf(variables).filter((path) => !has(given[heading], path))
      expect(missing.filter((path) => !/\.client\./u.test(path))).toEqual([])
    }
    expect(has(dns, 'etcd.client.username') || has(dns, 'etcd.client.certificate')).toBe(true)
  })

  test('becomes machines that have them', async () => {
    const stack = await load(stringify(stackOf(etcd)))
    expect(stack.etcd?.members[0].hardware).toMatchObject({
      dataVolumeId: '/pool/etcd-1-data',
      chrony: { makestep: MAKESTEP },
      logs: { agent: 'fluentbit', etcd: { keyPrefix: '/fb/' } },
    })
    expect(stack.dns?.servers[0]).toMatchObject({ address: '10.0.0.10', moreAddresses: ['10.0.1.10'] })
    expect(stack.postgres?.members[0].hardware.logs?.buffer).toBe('<buffer>\n</buffer>')
  })
})
