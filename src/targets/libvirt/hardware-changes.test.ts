import { expect, test } from 'vitest'
import { HARDWARE } from '../../../test/support/machine-spec.ts'
import { Secret } from '../../lib/secret.ts'
import type { Machine } from '../../machine/machine.ts'
import { compareHardwareRecords, hardwareOf, passwordChange, recordedInterfaces } from './hardware-changes.ts'
import type { Placement } from './placement.ts'

const machine: Machine = {
  name: 'etcd-1',
  kind: 'etcd',
  address: '192.168.121.4',
  hardware: { ...HARDWARE, adminUserPassword: new Secret('mockpass'), sshAdminPublicKey: 'ssh-ed25519 AAAA' },
  packages: ['etcd-server', 'etcd-client'],
  directories: [],
  files: [],
  services: [],
  ports: [],
}
const placement: Placement = {
  stack: 'lab',
  domain: 'lab-etcd-1',
  uuid: '',
  instanceId: 'iid-1',
  kind: 'qemu',
  domainType: 'kvm',
  arch: 'x86_64',
  interfaces: [
    {
      attach: { network: 'lan' },
      mac: '52:54:00:00:00:01',
      ip: '192.168.121.4',
      prefixLength: 24,
      gateway: '192.168.121.1',
      dnsServers: ['192.168.121.1'],
    },
    {
      attach: { macvtap: 'eth0' },
      mac: '52:54:00:00:00:02',
      ip: '10.0.0.4',
      prefixLength: 8,
      gateway: undefined,
      dnsServers: [],
    },
  ],
  disks: {
    root: { path: '/pool/etcd-1', format: 'qcow2', isOurs: false },
    data: undefined,
    seed: { path: '/pool/etcd-1.iso', format: 'raw', isOurs: true },
    program: undefined,
  },
}
const record = hardwareOf(machine, placement)

test('everything has the name of its variable', () => {
  expect(record).toMatchObject({
    vcpus: '2',
    memory: '8192',
    accelerator: 'auto (kvm)',
    volume_id: '/pool/etcd-1',
    packages: 'etcd-client etcd-server',
    'libvirt_network[0]': 'lan',
    'libvirt_network[0].ip': '192.168.121.4',
    'macvtap_interfaces[0]': 'eth0',
    'macvtap_interfaces[0].mac': '52:54:00:00:00:02',
  })
})

test('nothing in it is made from the password', () => {
  const other = hardwareOf(
    { ...machine, hardware: { ...machine.hardware, adminUserPassword: new Secret('x') } },
    placement,
  )
  expect(other).toEqual(record)
})

test('another password is told without it, and set while the machine runs', () => {
  const changes = (before: string | undefined, now: string | undefined) => {
    const secret = (text: string | undefined) => (text === undefined ? undefined : new Secret(text))
    const changed = { ...machine, hardware: { ...machine.hardware, adminUserPassword: secret(now) } }
    return passwordChange(changed, { adminPassword: secret(before) }).map(({ from, to, takes }) => [from, to, takes])
  }
  expect(changes('one', 'two')).toEqual([['a password', 'another password', 'live']])
  expect(changes(undefined, 'two')).toEqual([['none', 'a password', 'live']])
  expect(changes('one', undefined)).toEqual([['a password', 'none', 'live']])
  expect(changes('one', 'one')).toEqual([])
  expect(passwordChange(machine, undefined)).toEqual([])
})

test('interfaces are found again, but for their MAC addresses', () => {
  expect(recordedInterfaces(record)).toEqual(placement.interfaces.map(({ mac: _, ...rest }) => rest))
})

test('the same is no change', () => {
  expect(compareHardwareRecords(record, hardwareOf(machine, placement))).toEqual([])
})

test.each([
  ['vcpus', '4', 'next start'],
  ['memory', '4096', 'next start'],
  ['accelerator', 'tcg', 'next start'],
  ['autostart', 'false', 'live'],
  ['hypervisor', 'qemu+ssh://kvm2/system', 'replace'],
  ['volume_id', '/pool/other', 'replace'],
  ['libvirt_network[0].ip', '192.168.121.5', 'replace'],
  ['libvirt_network[0].mac', '52:54:00:00:00:09', 'replace'],
  ['ssh_admin_user', 'admin', 'replace'],
  ['ssh_admin_public_key', 'ssh-ed25519 BBBB', 'replace'],
  ['packages', 'etcd-client etcd-server chrony', 'replace'],
])('another %s (%s) takes: %s', (name, to, takes) => {
  const changes = compareHardwareRecords(record, { ...record, [name]: to })
  expect(changes).toEqual([{ name, from: record[name], to, takes, why: expect.stringMatching(/\w/u) as unknown }])
})

test('our own program is exchanged while it runs, and a drive for it comes with the next start', () => {
  const older = { ...record, program: '/pool/1.iso' }
  expect(compareHardwareRecords(older, { ...record, program: '/pool/2.iso' })[0].takes).toBe('live')
  expect(compareHardwareRecords(record, older)).toMatchObject([{ from: 'none', takes: 'next start' }])
})

test('what is there no longer is told as well', () => {
  const { volume_id, ...others } = record
  expect(compareHardwareRecords(record, others)).toMatchObject([{ name: 'volume_id', from: volume_id, to: 'none' }])
})
