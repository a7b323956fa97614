import { expect, test } from 'vitest'
import { closest } from './closest.ts'

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
})

test('the nearest of several neighbours wins, not the first', () => {
  expect(closest('ready', ['read', 'reads', 'ready'])).toBe('ready')
})
