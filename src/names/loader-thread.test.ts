import { expect, test } from 'vitest'
import { Control } from '../zone/epoch.ts'
import type { LoaderReport } from './loader-messages.ts'
import { LoaderThread } from './loader-thread.ts'

test('a thread that has failed by itself can be stopped', async () => {
  const failed = Promise.withResolvers<Error>()
  const broken = {
    control: new SharedArrayBuffer(0),
    readers: [],
    spaces: [],
    requireNs: true,
    stateDirectory: undefined,
  }
  const loader = new LoaderThread(broken, () => undefined, failed.resolve)
  expect(await failed.promise).toBeInstanceOf(Error)
  await loader.stop()
  await loader.stop()
})

test('a thread that is well reports, and being stopped is no failure', async () => {
  const ready = Promise.withResolvers<LoaderReport>()
  const { buffer } = Control.create(1)
  const loader = new LoaderThread(
    { control: buffer, readers: [], spaces: [], requireNs: true, stateDirectory: undefined },
    ready.resolve,
    (error) => ready.reject(error),
  )
  expect(await ready.promise).toMatchObject({ kind: 'ready' })
  await loader.stop()
})
