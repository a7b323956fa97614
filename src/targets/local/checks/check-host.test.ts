import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkHost } from './check-host.ts'
import type { HostMachine } from './host-machine.ts'
import { checkInstalled, checkUsers } from './installed.ts'

const signal = new AbortController().signal
const machine: HostMachine = {
  ...{ name: 'etcd-1', kind: 'etcd', address: '127.105.20.1', packages: ['dpkg', 'no-such-package'] },
  ports: [{ port: 20_379, protocol: 'tcp', purpose: 'etcd clients' }],
  services: [{ user: 'root' }, { user: 'no-such-user' }],
}

test('every check has something to say', async () => {
  const findings = await checkHost({ machines: [machine], directory: '/var/lib/holdfast-none', isRoot: true, signal })
  expect([...new Set(findings.map(({ check }) => check))].filter((check) => check !== 'selinux')).toEqual([
    ...['system', 'node', 'udp', 'clock', 'packages', 'users', 'rights', 'addresses', 'ports', 'memory', 'open files'],
    ...['state', 'disk'],
  ])
  expect(findings.find(({ check }) => check === 'packages')).toEqual({
    ...{ check: 'packages', state: 'problem', message: 'not installed: no-such-package', fix: 'holdfast doctor --fix' },
  })
  expect(findings.find(({ check }) => check === 'users')).toMatchObject({ message: 'there is no user "no-such-user"' })
})

test('whoever is not root needs no users, and is told what root has to run', async () => {
  expect(await checkInstalled([machine], false, signal)).toEqual([
    {
      ...{ check: 'packages', state: 'problem', message: 'not installed: no-such-package' },
      fix: 'sudo apt-get install --no-install-recommends no-such-package',
    },
  ])
})

test('a user that comes with a missing package is not told beside it', async () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-users-'))
  try {
    mkdirSync(join(root, 'etc'))
    writeFileSync(join(root, 'etc/passwd'), 'holdfast:x:900:900::/nonexistent:/usr/sbin/nologin\n')
    const wanted = ['etcd', 'holdfast', 'postgres']
    expect(await checkUsers(wanted, ['etcd-server', 'postgresql-15'], root)).toMatchObject([{ state: 'ok' }])
    expect(await checkUsers(wanted, ['etcd-server'], root)).toMatchObject([{ message: 'there is no user "postgres"' }])
  } finally {
    rmSync(root, { recursive: true })
  }
})
