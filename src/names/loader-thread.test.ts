import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { until } from '../../test/support/until.ts'
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
    patienceMs: 1000,
    stateDirectory: undefined,
  }
  const loader = new LoaderThread(broken, () => undefined, failed.resolve)
  expect(await failed.promise).toBeInstanceOf(Error)
  await loader.stop()
  await loader.stop()
  expect(await loader.search({ space: 0, origin: '.', name: Uint8Array.of(0), type: 1 })).toBeUndefined()
})

test('a thread that is well reports, and being stopped is no failure', async () => {
  const ready = Promise.withResolvers<LoaderReport>()
  const { buffer } = Control.create(1)
  const loader = new LoaderThread(
    { control: buffer, readers: [], spaces: [], requireNs: true, patienceMs: 1000, stateDirectory: undefined },
    ready.resolve,
    (error) => ready.reject(error),
  )
  expect(await ready.promise).toMatchObject({ kind: 'ready' })
  await loader.stop()
})

test('a fault that nobody expected is told, and the thread goes on', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-loader-'))
  const reports: LoaderReport[] = []
  const told = (kind: LoaderReport['kind']) => until(kind, () => reports.find((report) => report.kind === kind))
  const auto = { zones: ['.'], directory, pattern: /^db\.(.*)$/u, template: '${1}', reloadMs: 60_000, fallthrough: [] }
  const space = {
    space: 0,
    autos: [auto],
    files: [],
    etcdZones: [],
    skydns: [],
    patronis: [],
    kubevirts: [],
    kubernetes: [],
    ptr: undefined,
  }
  const { buffer } = Control.create(1)
  const loader = new LoaderThread(
    { control: buffer, readers: [], spaces: [space], requireNs: true, patienceMs: 1000, stateDirectory: undefined },
    (report) => reports.push(report),
    (error) => {
      throw error
    },
  )
  try {
    await told('ready')
    // The thread takes it for a port, until it is to post something there.
    loader.addReader(new ArrayBuffer(1) as unknown as MessagePort)
    expect(await told('problem')).toMatchObject({
      message: expect.stringMatching(/this is a defect, please report it/u),
    })
    writeFileSync(join(directory, 'db.a.test'), '@ 60 SOA a. b. 1 2 3 4 5\n@ 60 NS a.\n')
    expect(await told('zone')).toMatchObject({ origin: 'a.test.' })
  } finally {
    await loader.stop()
    rmSync(directory, { recursive: true })
  }
})
