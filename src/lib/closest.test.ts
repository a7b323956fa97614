import { expect, test } from 'vitest'
import { closest, oneOf, suggestion } from './closest.ts'

const commands = ['dns', 'zone check', 'forward', 'loadbalance', 'health']

test('a slip of the fingers finds the word that was meant', () => {
  expect(closest('foward', commands)).toBe('forward')
  expect(closest('laodbalance', commands)).toBe('loadbalance')
  expect(closest('zone chekc', commands)).toBe('zone check')
  expect(closest('DSN', commands)).toBe('dns')
})

test('a different word has no neighbour', () => {
  expect(closest('kubernetes', commands)).toBeUndefined()
  expect(closest('', commands)).toBeUndefined()
  expect(closest('health', [])).toBeUndefined()
  expect(closest('top', ['up'])).toBeUndefined()
  expect(closest('pod', ['node', 'service'])).toBeUndefined()
  expect(closest('x', ['y'])).toBeUndefined()
})

test('a part of one word finds it, a part of several finds none', () => {
  expect(closest('cpu', ['memory', 'vcpus'])).toBe('vcpus')
  expect(closest('libvirt', ['libvirt_network', 'libvirt_networks'])).toBeUndefined()
})

test('the nearest of several neighbours wins, not the first', () => {
  expect(closest('ready', ['read', 'reads', 'ready'])).toBe('ready')
})

test('a message about an unknown word has the one that is meant, or a list that is never long', () => {
  expect(suggestion('memmbers', ['members', 'version'])).toBe('did you mean "members"?')
  expect(suggestion('x', ['local', 'libvirt'])).toBe('expected one of local, libvirt')
  expect(suggestion('xyz', [...'abcdefgh'])).toBe('expected one of a, b, c, d, e, f, g, h')
  expect(suggestion('xyz', [...'abcdefghi'])).toBe('expected one of a, b, c, d, e, … (9 in all)')
  expect([oneOf(['a']), oneOf([])]).toEqual(['a', 'none'])
})
