// What becomes of names when an API server loses its data, refuses, or is away at a start; with one that can be told to.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { KubeObject } from '../../src/kube/resource.ts'
import { ingressSource } from '../../src/names/kubernetes/ingress-source.ts'
import { KubeNames } from '../../src/names/kubernetes/kube-names.ts'
import { WorkQueue } from '../../src/names/work-queue.ts'
import { DEFAULT_SHAPE, endpointShape } from '../../src/names/kubernetes/shape.ts'
import { DEFAULT_SETTINGS } from '../../src/names/kubernetes/source-settings.ts'
import { nameTemplates } from '../../src/names/kubernetes/template/name-templates.ts'
import type { SourceState } from '../../src/names/sources/etcd-source.ts'
import { ObjectServer } from '../support/object-server.ts'
import { until } from '../support/until.ts'

let server: ObjectServer
let directory: string
let ending: AbortController
let told: { names: readonly string[]; listed: boolean }[]
let problems: string[]
let state: SourceState | undefined
beforeEach(async () => {
  server = await ObjectServer.start()
  directory = mkdtempSync(join(tmpdir(), 'holdfast-kube-names-'))
  begin()
})
afterEach(async () => {
  ending.abort()
  await server.stop()
  rmSync(directory, { recursive: true })
})

function begin(): void {
  ending = new AbortController()
  told = []
  problems = []
  state = undefined
}

function follow(): KubeNames {
  const names = new KubeNames({
    ...{ name: 'test', kube: { server: server.url, env: {} }, stateDirectory: directory, setup: '' },
    sources: [ingressSource(DEFAULT_SETTINGS, nameTemplates(DEFAULT_SETTINGS))],
    shape: endpointShape(DEFAULT_SHAPE),
    signal: ending.signal,
    work: new WorkQueue(),
    onNames: (touched, listed) => {
      told.push({ names: [...touched], listed })
      return undefined
    },
    onState: (now) => {
      state = now
    },
    onProblem: (message) => problems.push(message),
  })
  names.start()
  return names
}

function ingress(name: string): KubeObject {
  return Object.assign(
    { metadata: { name, namespace: 'default' } },
    {
      spec: { rules: [{ host: `${name}.test` }] },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    },
  )
}

const NAMES = Array.from({ length: 10 }, (_, i) => `h${i}`)
const count = (names: KubeNames) => [...names.index.names()].length

async function followTen(): Promise<KubeNames> {
  for (const name of NAMES) server.put(ingress(name))
  const names = follow()
  await until('names and a watch', () => count(names) === 10 && state?.up === true && server.watches > 0)
  return names
}

test('an API server that lost its data takes no name away until half of them are back; what is gone then was not watched', async () => {
  const names = await followTen()
  server.loseData()
  await until('doubt', () => state?.doubted === true)
  expect(count(names)).toBe(10)
  expect(problems).toEqual([expect.stringMatching(/^Cannot believe that 10 objects of ingresses.* are gone: /u)])
  const before = told.length
  server.put(ingress('h0'))
  await until('the first one', () => told.length > before)
  expect(count(names)).toBe(10)
  for (const name of NAMES.slice(1, 5)) server.put(ingress(name))
  await until('half of them', () => count(names) === 5)
  expect(told.at(-1)?.listed).toBe(true)
  await until('no doubt', () => state?.doubted === false)
})

test('so it is when the data are lost while nobody looks', async () => {
  await followTen()
  ending.abort()
  server.loseData()
  begin()
  const names = follow()
  await until('the last good state', () => count(names) === 10)
  await until('doubt', () => state?.doubted === true)
  expect(count(names)).toBe(10)
})

test('a start with the last good state finds what changed meanwhile, and only that', async () => {
  await followTen()
  ending.abort()
  server.delete('h0')
  server.put(ingress('new'))
  begin()
  const names = follow()
  await until('the last good state', () => told.length > 0)
  expect(told[0].names).toHaveLength(10)
  await until('the difference', () => told.length > 1 && names.isComplete)
  expect(told.slice(1).flatMap(({ names: each }) => each)).toEqual(expect.arrayContaining(['h0.test', 'new.test']))
  expect(told.slice(1).flatMap(({ names: each }) => each)).toHaveLength(2)
})

test.each([401, 403, 500])(
  'whoever is answered with %i from the start knows nothing, and does not say that there is nothing',
  async (code) => {
    server.refusal = code
    const names = follow()
    await until('an error', () => state?.error !== undefined)
    expect(names.isReady).toBe(false)
    expect(told).toEqual([])
    server.refusal = undefined
    server.put(ingress('h0'))
    await until('the name', () => count(names) === 1)
  },
)

test('a watched deletion is told as one', async () => {
  const names = await followTen()
  server.delete('h0')
  await until('one less', () => count(names) === 9)
  expect(told.at(-1)).toEqual({ names: ['h0.test'], listed: false })
})

test('an object whose fields are of the wrong kind is told and has no names, and the others are followed', async () => {
  const names = await followTen()
  server.put(Object.assign(ingress('odd'), { spec: { rules: 'none' } }))
  server.put(ingress('next'))
  await until('next name', () => [...names.index.names()].includes('next.test'))
  expect(problems).toEqual([expect.stringMatching(/^Cannot read Ingress "default\/odd": .*; it has no names$/u)])
  expect([...names.index.names()]).not.toContain('odd.test')
})

test('one object with 9,000 names and 10,000 targets has its share, and a start with it in the last good state, too', async () => {
  const list = (count: number, item: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => item(i)).join(',')
  const annotations = {
    'external-dns.alpha.kubernetes.io/hostname': list(9000, (i) => `n${i}.test`),
    'external-dns.alpha.kubernetes.io/target': list(10_000, (i) => `10.0.${i >> 8}.${i & 255}`),
  }
  server.put({ metadata: { name: 'bomb', namespace: 'tenant', annotations } })
  server.put(ingress('h0'))
  const names = follow()
  await until('names', () => count(names) === 11)
  expect(names.index.candidates('n0.test')[0].targets).toHaveLength(1000)
  expect(problems.join('\n')).toContain('it has more than 10000 records; the rest is left out')
  await until('the state', () => (state?.problemCount ?? 0) > 0)
  ending.abort()
  server.refusal = 500
  begin()
  const again = follow()
  await until('the last good state', () => count(again) === 11)
})

test('items and fields that are not what they should be are reported, and take nothing from others', async () => {
  server.put(Object.assign(ingress('odd'), { spec: { rules: 'x' } }))
  server.put(Object.assign(ingress('odder'), { spec: { tls: [{ hosts: [5] }] } }))
  server.put(ingress('h0'))
  const names = follow()
  await until('the name', () => count(names) === 1 && names.isComplete)
  expect(problems.toSorted()).toEqual([
    'Cannot read Ingress "default/odd": a field is not of the kind that is expected there; it has no names',
    'Cannot read ingress/default/odder: a field is not of the kind that is expected there; it has no names',
  ])
  expect(problems.join()).not.toContain('defect')
})
