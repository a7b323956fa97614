import { expect, test } from 'vitest'
import { etcdSpec, etcdUser } from '../../test/support/etcd-machines.ts'
import { reveal } from '../machine/content.ts'
import { fakeSite } from './apply/testing.ts'
import { clientFiles } from './client-files.ts'

const USERS = [etcdUser('dns'), etcdUser('zones'), etcdUser('grafana')]

function filesOf(clientCertAuth: boolean): Record<string, string> {
  const stack = {
    ...{ name: 'lab', file: '/stack.yaml', target: 'local' as const, domain: 'lab.test' },
    ...{ dns: undefined, postgres: undefined, authority: undefined, notices: [] },
    etcd: etcdSpec(['10.0.0.1'], { clientCertAuth, users: USERS }),
  }
  return Object.fromEntries(clientFiles(stack, fakeSite(), '/client').map((file) => [file.name, reveal(file.content)]))
}

test('a user with a password has a certificate next to it, and env exports both', () => {
  const files = filesOf(false)
  expect(files.env).toContain("export ETCDCTL_CERT='/client/etcd.pem' ETCDCTL_KEY='/client/etcd.key'\n")
  expect(files.env).toContain("export ETCDCTL_USER='zones:secret of etcd-user-zones-password'\n")
  expect(files['etcd.pem']).toBe('certificate etcd-connection/zones\n')
  expect(files['etcd-root.key']).toBe('key etcd-connection/root\n')
  expect(files['etcd-user-grafana.pem']).toBe('certificate etcd-connection/grafana\n')
})

test('a certificate that names the user needs no password', () => {
  const files = filesOf(true)
  expect(files.env).toContain("export ETCDCTL_CERT='/client/etcd.pem' ETCDCTL_KEY='/client/etcd.key'\n")
  expect(files.env).not.toContain('ETCDCTL_USER')
  expect(files['etcd.pem']).toBe('certificate etcd-user/zones\n')
})
