import { expect, test } from 'vitest'
import { installCommand, installPackages, missingPackages } from './packages.ts'

const never = new AbortController().signal

test('packages that are installed are not missing, those that are not or do not exist are', async () => {
  const wanted = ['no-such-package', 'dpkg', 'another-one-that-does-not-exist', 'base-files']
  expect(await missingPackages(wanted, never)).toEqual(['no-such-package', 'another-one-that-does-not-exist'])
  expect(await missingPackages([], never)).toEqual([])
})

test('any PostgreSQL server will do where no version is asked for', async () => {
  const [exact, any] = await Promise.all([
    missingPackages(['postgresql-15', 'postgresql-16', 'postgresql-17'], never),
    missingPackages(['postgresql'], never),
  ])
  if (exact.length < 3) expect(any).toEqual([])
  expect(await missingPackages(['postgresql-1'], never)).toEqual(['postgresql-1'])
})

test('whoever is not root is told what root has to run', async () => {
  const options = { isRoot: false, signal: never, env: {}, onProgress: () => expect.unreachable() }
  await expect(installPackages(['dpkg', 'no-such-package'], options)).rejects.toMatchObject({
    code: 'PackagesNeedRoot',
    message: 'Cannot install no-such-package: not running as root',
    hint: 'run this first: sudo apt-get install --no-install-recommends no-such-package',
  })
  await expect(installPackages(['dpkg'], options)).resolves.toBeUndefined()
})

test('the command line for people is one that they can copy', () => {
  expect(installCommand(['a', 'b'])).toBe('sudo apt-get install --no-install-recommends a b')
})
