import { expect, test } from 'vitest'
import { isPlain, wantedPackages } from './recipe.ts'

test('an image has what machines run, and what was asked for besides', () => {
  expect(wantedPackages(false, ['vim'])).toEqual(
    expect.arrayContaining(['cloud-init', 'etcd-server', 'linux-image-amd64', 'patroni', 'vim']),
  )
})

test('a plain one boots and has no services', () => {
  const plain = wantedPackages(true, [])
  expect(plain).toEqual(expect.arrayContaining(['cloud-init', 'linux-image-amd64', 'qemu-guest-agent']))
  expect(plain).not.toContain('etcd-server')
})

test('a list is plain without services, even with libraries that they share with cloud-init', () => {
  expect(isPlain({ 'cloud-init': '1', 'python3-idna': '3' })).toBe(true)
  expect(isPlain({ 'cloud-init': '1', 'etcd-server': '3' })).toBe(false)
})
