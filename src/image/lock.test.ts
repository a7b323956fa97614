import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withLock } from './lock.ts'

let parent: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'holdfast-lock-'))
})
afterEach(() => rmSync(parent, { recursive: true }))

const signal = new AbortController().signal

test('the directory is made, and work is done one after the other', async () => {
  const directory = join(parent, 'a/b')
  const order: string[] = []
  const started = Promise.withResolvers<void>()
  const waiting = Promise.withResolvers<void>()
  const first = withLock(directory, { signal, onWait: () => order.push('never') }, async () => {
    started.resolve()
    await waiting.promise
    order.push('first')
  })
  await started.promise
  const second = withLock(directory, { signal, onWait: waiting.resolve }, async () => {
    order.push('second')
  })
  await Promise.all([first, second])
  expect(order).toEqual(['first', 'second'])
  expect(existsSync(directory)).toBe(true)
})

test('whoever waits can be stopped', async () => {
  const controller = new AbortController()
  await withLock(parent, { signal, onWait: () => undefined }, async () => {
    const second = withLock(parent, { signal: controller.signal, onWait: () => controller.abort() }, async () => 'done')
    await expect(second).rejects.toMatchObject({ code: 'Interrupted' })
  })
})

test('work that fails gives the lock back', async () => {
  const fail = withLock(parent, { signal, onWait: () => undefined }, () => Promise.reject(new Error('no')))
  await expect(fail).rejects.toThrow('no')
  await expect(withLock(parent, { signal, onWait: () => undefined }, async () => 'done')).resolves.toBe('done')
})
