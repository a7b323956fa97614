import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { exampleMachines, type PlacedMachine, placementOf } from '../../../../test/support/cloud-init-examples.ts'
import { Secret } from '../../../lib/secret.ts'
import { plain, reveal, show } from '../../../machine/content.ts'
import type { Machine } from '../../../machine/machine.ts'
import { renderCloudInit } from './cloud-init.ts'

const [etcd] = await exampleMachines('etcd-libvirt-network')
const [dns] = await exampleMachines('dns-two-macvtap')
const [postgres] = await exampleMachines('postgres-network-id')

interface UserData {
  readonly users: readonly Readonly<Record<string, unknown>>[]
  readonly packages?: readonly string[]
  readonly bootcmd?: readonly (readonly string[])[]
  readonly runcmd: readonly (readonly string[])[]
  readonly write_files: readonly { readonly path: string; readonly content: string; readonly encoding?: string }[]
}

function userData({ machine, placement }: PlacedMachine, change: Partial<Machine> = {}): UserData {
  return parse(reveal(renderCloudInit({ ...machine, ...change }, placement).userData)) as UserData
}

function paths(data: UserData): string[] {
  return data.write_files.map(({ path }) => path)
}

describe('users', () => {
  test('are the administrator, who may have a password for the console, and those of services', () => {
    expect(userData(dns).users).toMatchObject([
      { name: 'ubuntu', lock_passwd: false, plain_text_passwd: 'given-console' },
      { name: 'holdfast', system: true, shell: '/usr/sbin/nologin' },
    ])
    expect(userData(etcd).users).toMatchObject([{ name: 'ubuntu', lock_passwd: true }, { name: 'etcd' }])
    expect(userData(etcd).users[0]).not.toHaveProperty('plain_text_passwd')
    expect(userData(postgres).users[1]).toMatchObject({ name: 'postgres', homedir: '/var/lib/postgresql' })
  })
})

describe('packages', () => {
  test('are installed without starting anything of theirs', () => {
    expect(userData(postgres).packages).toContain('qemu-guest-agent')
    expect(userData(postgres).bootcmd?.[0]).toEqual(
      expect.arrayContaining(['mask', 'patroni.service', 'postgresql.service']),
    )
    expect(userData(postgres, { packages: ['postgresql-16'] }).bootcmd?.[0]).toContain('postgresql.service')
    expect(paths(userData(postgres))).toContain('/etc/postgresql-common/createcluster.d/no-main.conf')
    expect(paths(userData(postgres))).toContain('/etc/apt/apt.conf.d/90holdfast')
  })

  test('are not installed when the image has them, and are kept from starting all the same', () => {
    const hardware = { ...etcd.machine.hardware, installDependencies: false }
    const data = userData(etcd, { hardware })
    expect(data).not.toHaveProperty('packages')
    expect(data).not.toHaveProperty('package_update')
    expect(data.bootcmd?.[0]).toContain('etcd.service')
    expect(paths(data)).not.toContain('/etc/apt/apt.conf.d/90holdfast')
  })

  test('may be in the image unasked, as agents for logs are, and do not start there', () => {
    const services = [{ ...etcd.machine.services[0], name: 'fluentd' }]
    expect(userData(etcd, { services, packages: [] }).bootcmd?.[0]).toContain('fluentd.service')
  })

  test('may come from a source of somebody else, with its key', () => {
    const source = 'deb [signed-by=$KEY_FILE] https://packages.example bookworm main'
    const data = userData(etcd, { packageSources: [{ name: 'fluent-bit', source, key: 'KEY' }] })
    const text = (path: string) => data.write_files.find((file) => file.path === path)?.content
    expect(text('/etc/apt/keyrings/fluent-bit.asc')).toBe('KEY\n')
    expect(text('/etc/apt/sources.list.d/fluent-bit.list')).toBe(
      'deb [signed-by=/etc/apt/keyrings/fluent-bit.asc] https://packages.example bookworm main\n',
    )
  })
})

test('a text that cannot be written in YAML is written as base64, and is as secret as before', () => {
  const content = ['a\r\n', new Secret('hidden\u0000')]
  const file = { path: '/etc/odd', owner: 'root', mode: 0o600, onChange: 'nothing', content } as const
  const [{ content: text, encoding }] = userData(etcd, { files: [file] }).write_files
  expect([encoding, Buffer.from(text, 'base64').toString()]).toEqual(['base64', 'a\r\nhidden\u0000'])
  const shown = show(renderCloudInit({ ...etcd.machine, files: [file] }, etcd.placement).userData)
  expect(parse(shown)).toMatchObject({
    write_files: expect.arrayContaining([expect.objectContaining({ content: '***' })]),
  })
})

test('an empty file is an empty file', () => {
  const file = { path: '/etc/empty', owner: 'root', mode: 0o644, onChange: 'nothing', content: plain('') } as const
  expect(userData(etcd, { files: [file] }).write_files[0]).toMatchObject({ path: '/etc/empty', content: '' })
})

test('a container has neither a disk to mount, nor a watchdog, nor a guest agent', () => {
  const placement = placementOf(postgres.machine, 'data', 'lxc')
  const data = userData({ machine: postgres.machine, placement })
  expect(data.packages).not.toContain('qemu-guest-agent')
  expect(data.runcmd.flat().join(' ')).not.toMatch(/watchdog|guest-agent/u)
  expect(paths(data).filter((path) => /mount|watchdog|prepare-disk/u.test(path))).toEqual([])
  const { networkConfig } = renderCloudInit(postgres.machine, placement)
  expect((parse(networkConfig) as { ethernets: object }).ethernets).toMatchObject({
    eth0: { addresses: ['192.168.122.158/24'] },
  })
  expect(networkConfig).not.toContain('match')
})
