import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { missingUsers, userCommand } from './system-user.ts'

test('users are looked up by their whole name', async () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-users-'))
  try {
    mkdirSync(join(root, 'etc'))
    writeFileSync(
      join(root, 'etc/passwd'),
      'root:x:0:0:root:/root:/bin/bash\netcd:x:105:108::/var/lib/etcd:/bin/false\n',
    )
    expect(await missingUsers(['root', 'etc', 'etcd', 'x', 'postgres'], root)).toEqual(['etc', 'x', 'postgres'])
  } finally {
    rmSync(root, { recursive: true })
  }
})

test('a user for a service has neither home nor shell', () => {
  const command = userCommand('holdfast').join(' ')
  expect(command).toMatch(/^useradd --system .*--no-create-home .*--shell \/usr\/sbin\/nologin holdfast$/u)
})
