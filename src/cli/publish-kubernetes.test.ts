import { expect, test } from 'vitest'
import { holdfast } from '../../test/support/command-line.ts'

test.each([
  [['--interval=0'], 'Cannot use --interval "0": everything would be compared without end; expected 1s or more'],
  [['--interval=100ms'], 'Cannot use --interval "100ms"'],
  [['--coredns-prefix='], 'Cannot use --coredns-prefix "": it stands for every key of etcd'],
  [['--coredns-prefix=/'], 'Cannot use --coredns-prefix "/"'],
  [['--managed-record-types=A,CNAME'], 'Cannot use --managed-record-types "A,CNAME"'],
  [['--exclude-record-types=cname'], 'Cannot use --exclude-record-types "cname"'],
  [
    ['--create-ptr', '--managed-record-types=A'],
    'Cannot use --create-ptr with --managed-record-types "A": PTR is missing',
  ],
  [['--log-format=xml'], 'Cannot use --log-format "xml"'],
  [['--log-level=loud'], 'Cannot use --log-level "loud"'],
  [['--nat64-networks=64:ff9b::/96'], 'Cannot use --nat64-networks'],
  [['--leader-election=a/b/c'], 'Cannot use "a/b/c" as a Lease'],
])('%j is refused', async (argv, message) => {
  const { code, stderr } = await holdfast(['publish', 'kubernetes', '--source=ingress', ...argv])
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})

test('a dry run that could read neither Kubernetes nor etcd prints no result, and ends at once', async () => {
  const args = ['--source=ingress', '--once', '--dry-run', '--kubeconfig=/nonexistent', '--endpoints=127.0.0.1:1']
  const { code, stdout } = await holdfast(['publish', 'kubernetes', ...args])
  expect(stdout).toBe('')
  expect(code).toBe(1)
})
