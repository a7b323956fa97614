import { expect, test } from 'vitest'
import { HttpPage } from './http-page.ts'

test('a page is fresh as long as writing it takes little of the time, and then as it was', () => {
  let nowMs = 0
  let written = 0
  const page = new HttpPage(
    () => {
      nowMs += 30
      return String(++written)
    },
    () => nowMs,
  )
  const read = () => page.read().toString()
  expect([read(), read(), read(), read()]).toEqual(['1', '2', '3', '4'])
  for (let i = 0; i < 1000; i++) expect(read()).toBe('4')
  nowMs += 1000
  expect([read(), read()]).toEqual(['5', '6'])
  nowMs += 60_000
  expect([read(), read(), read(), read(), read()]).toEqual(['7', '8', '9', '10', '10'])
})

test('a page that cannot be written is tried again', () => {
  let broken = true
  const page = new HttpPage(() => {
    if (broken) throw new Error('no such zone')
    return 'text'
  })
  expect(() => page.read()).toThrow('no such zone')
  broken = false
  expect(page.read().toString()).toBe('text')
})
