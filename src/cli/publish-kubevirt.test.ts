import { expect, test } from 'vitest'
import { holdfast } from '../../test/support/command-line.ts'

test.each([
  [['--to=etcd', '--prefix='], 'Cannot use --prefix "": it stands for every key of etcd'],
  [['--to=etcd', '--max-deletions=many'], 'Cannot read "many" as --max-deletions'],
  [['--max-deletions=5'], 'Cannot use --max-deletions with --to directory: it is for the other; leave it out'],
  [['--to=etcd', '--directory=/zones'], 'Cannot use --directory with --to etcd'],
  [['--to=dns'], 'Cannot use --to "dns": expected directory or etcd'],
])('%j is refused', async (argv, message) => {
  const { code, stderr } = await holdfast(['publish', 'kubevirt', ...argv])
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})
