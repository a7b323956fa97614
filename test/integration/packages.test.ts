// Packages installed for real, by apt and dpkg on this host, from an archive in a directory: no network is needed. The
// package does what Debian's do: it asks whether it may start its daemon.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installPackages, missingPackages } from '../../src/targets/local/packages.ts'
import { makeSystemUser, missingUsers } from '../../src/targets/local/system-user.ts'

const PACKAGE = 'holdfast-test-package'
const USER = 'holdfast-test-user'
const signal = new AbortController().signal
let directory: string
let env: Record<string, string>
let answer: string

/** What is there of the host's policy about daemons, before and after. */
function policy(): string {
  return execFileSync('sh', ['-c', 'ls -l /usr/sbin/policy-rc.d* && cat /usr/sbin/policy-rc.d || true'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

function buildArchive(): void {
  const tree = join(directory, 'tree')
  mkdirSync(join(tree, 'DEBIAN'), { recursive: true })
  const control = `Package: ${PACKAGE}\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@example.test>\nDescription: test\n`
  writeFileSync(join(tree, 'DEBIAN/control'), control)
  const ask = `code=0; /usr/sbin/policy-rc.d some-daemon start || code=$?; echo $code >${answer}`
  writeFileSync(join(tree, 'DEBIAN/postinst'), `#!/bin/sh\n${ask}\n`, { mode: 0o755 })
  const file = join(directory, 'archive', `${PACKAGE}.deb`)
  mkdirSync(join(directory, 'archive'))
  execFileSync('dpkg-deb', ['--root-owner-group', '--build', tree, file], { stdio: 'ignore' })
  const hash = createHash('sha256').update(readFileSync(file)).digest('hex')
  const index = `${control}Filename: ./${PACKAGE}.deb\nSize: ${statSync(file).size}\nSHA256: ${hash}\n`
  writeFileSync(join(directory, 'archive/Packages'), index)
}

describe.skipIf(process.getuid?.() !== 0)('as root', () => {
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-packages-'))
    execFileSync('chmod', ['755', directory])
    answer = join(directory, 'answer')
    buildArchive()
    mkdirSync(join(directory, 'lists/partial'), { recursive: true })
    writeFileSync(join(directory, 'sources.list'), `deb [trusted=yes] file:${directory}/archive ./\n`)
    const config = [
      `Dir::Etc::SourceList "${directory}/sources.list";`,
      'Dir::Etc::SourceParts "/dev/null";',
      `Dir::State::Lists "${directory}/lists";`,
      'APT::Sandbox::User "root";',
    ]
    writeFileSync(join(directory, 'apt.conf'), `${config.join('\n')}\n`)
    env = { APT_CONFIG: join(directory, 'apt.conf') }
  })
  afterAll(() => {
    execFileSync('dpkg', ['--purge', PACKAGE], { stdio: 'ignore' })
    rmSync(directory, { recursive: true })
  })

  test('what is missing is installed once, starts no daemon, and the policy of the host is as before', async () => {
    expect(await missingPackages(['dpkg', PACKAGE], signal)).toEqual([PACKAGE])
    const before = policy()
    const steps: string[] = []
    const options = { isRoot: true, signal, env, onProgress: (step: string) => steps.push(step) }
    await installPackages(['dpkg', PACKAGE], options)
    expect(readFileSync(answer, 'utf8')).toBe('101\n')
    expect(policy()).toBe(before)
    expect(steps.at(0)).toBe(`installing ${PACKAGE}`)
    expect(steps).toContain('fetching the lists of packages')
    expect(steps.at(-1)).toBe(`setting up ${PACKAGE}`)
    expect(await missingPackages([PACKAGE], signal)).toEqual([])

    steps.length = 0
    await installPackages([PACKAGE], options)
    expect(steps).toEqual([])
  })

  test('what does not exist is refused, and nothing else is installed', async () => {
    const install = installPackages(['holdfast-test-absent'], {
      isRoot: true,
      signal,
      env,
      onProgress: () => undefined,
    })
    await expect(install).rejects.toMatchObject({
      code: 'PackagesFailed',
      message: 'Cannot install holdfast-test-absent: Unable to locate package holdfast-test-absent',
    })
  })

  test('a user is made once, and can log in nowhere', async () => {
    try {
      await makeSystemUser(USER, signal)
      await makeSystemUser(USER, signal)
      expect(await missingUsers([USER])).toEqual([])
      const entry = execFileSync('getent', ['passwd', USER], { encoding: 'utf8' })
      expect(entry).toMatch(/^holdfast-test-user:x:\d{1,3}:\d{1,3}:[^:]*:\/nonexistent:\/usr\/sbin\/nologin$/mu)
    } finally {
      execFileSync('userdel', [USER], { stdio: 'ignore' })
    }
  })
})

test('a user that cannot be made is told with the reason', async () => {
  const name = process.getuid?.() === 0 ? 'not a name' : USER
  await expect(makeSystemUser(name, signal)).rejects.toMatchObject({ code: 'UserFailed' })
})
