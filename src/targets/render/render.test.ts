import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { HARDWARE } from '../../../test/support/machine-spec.ts'
import { Secret } from '../../lib/secret.ts'
import { content, plain } from '../../machine/content.ts'
import type { Machine } from '../../machine/machine.ts'
import { writeMachines } from './render.ts'

const MACHINE: Machine = {
  name: 'etcd-1',
  kind: 'etcd',
  address: '127.103.10.1',
  hardware: { ...HARDWARE, adminUserPassword: new Secret('hunter1') },
  packages: ['etcd-server'],
  directories: [{ path: '/var/lib/etcd', owner: 'etcd', mode: 0o700, isData: true }],
  files: [
    { path: '/etc/etcd/etcd.env', owner: 'root', mode: 0o644, content: plain('A=1\n'), onChange: { restart: 'etcd' } },
    {
      ...{ path: '/etc/etcd/password', owner: 'etcd', mode: 0o600, onChange: 'nothing' as const },
      content: content`password=${new Secret('hunter2')}\n`,
    },
  ],
  services: [
    {
      ...{ name: 'etcd', user: 'etcd', command: ['/usr/bin/etcd'], environment: {}, stopTimeoutMs: 5000 },
      stopSignal: 'SIGTERM',
    },
  ],
  ports: [{ port: 2379, protocol: 'tcp', purpose: 'etcd clients' }],
}

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-render-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function read(path: string): string {
  return readFileSync(join(directory, path), 'utf8')
}

test('every file is at its path, and no secret is in any of them', async () => {
  await writeMachines([MACHINE], directory)
  expect(read('etcd-1/etc/etcd/etcd.env')).toBe('A=1\n')
  expect(read('etcd-1/etc/etcd/password')).toBe('password=***\n')
  expect(existsSync(join(directory, 'etcd-1/var/lib/etcd'))).toBe(true)
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const { parentPath, name } of files) expect(readFileSync(join(parentPath, name), 'utf8')).not.toContain('hunter')
  expect(files).toHaveLength(5)
})

test('machine.json has everything but the contents, stack.txt is the overview', async () => {
  await writeMachines([MACHINE], directory)
  expect(JSON.parse(read('etcd-1/machine.json'))).toEqual({
    ...{ name: 'etcd-1', kind: 'etcd', address: '127.103.10.1', packages: ['etcd-server'], users: ['etcd', 'root'] },
    ports: MACHINE.ports,
    services: MACHINE.services,
    directories: [{ path: '/var/lib/etcd', owner: 'etcd', mode: '0700', isData: true }],
    files: [
      { path: '/etc/etcd/etcd.env', owner: 'root', mode: '0644', onChange: { restart: 'etcd' } },
      { path: '/etc/etcd/password', owner: 'etcd', mode: '0600', onChange: 'nothing', hasSecrets: true },
    ],
  })
  expect(read('stack.txt')).toBe(`1 machine. Secrets are shown as ***.

etcd-1 (etcd) 127.103.10.1
  packages  etcd-server
  ports     2379/tcp etcd clients
  service   etcd as etcd: /usr/bin/etcd
  file      0644  root  /etc/etcd/etcd.env  restarts etcd
  file      0600  etcd  /etc/etcd/password
`)
})

test('what was rendered before is replaced as a whole', async () => {
  await writeMachines([MACHINE, { ...MACHINE, name: 'etcd-2', files: [] }], directory)
  await writeMachines([{ ...MACHINE, files: [] }], directory)
  expect(readdirSync(directory).toSorted()).toEqual(['.holdfast-render', 'etcd-1', 'stack.txt'])
  expect(existsSync(join(directory, 'etcd-1/etc'))).toBe(false)
})

test('a directory that is not there is made, and one with files of others is left alone', async () => {
  await writeMachines([MACHINE], join(directory, 'new'))
  expect(read('new/etcd-1/etc/etcd/etcd.env')).toBe('A=1\n')
  await expect(writeMachines([], directory)).rejects.toThrow(
    expect.objectContaining({
      code: 'DirectoryInUse',
      message: `Cannot render to "${directory}": it has files that "render" did not write; expected an empty directory, or one that it made`,
    }),
  )
  writeFileSync(join(directory, 'file'), 'mine')
  await expect(writeMachines([], join(directory, 'file'))).rejects.toThrow(
    expect.objectContaining({ code: 'FileUnreadable' }),
  )
  expect(read('file')).toBe('mine')
})

test('texts that machines are made from on their target lie beside their files', async () => {
  const texts = new Map([['etcd-1', new Map([['user-data', '#cloud-config\n']])]])
  await writeMachines([MACHINE], directory, texts)
  expect(read('etcd-1/user-data')).toBe('#cloud-config\n')
})
