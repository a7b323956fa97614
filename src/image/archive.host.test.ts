import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hashOfSources, openArchive } from './archive.ts'
import type { Build } from './build-step.ts'

let directory: string
let server: Server
let requests: string[]
let steps: string[]
let build: Build
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-archive-'))
  requests = []
  steps = []
  build = {
    ...{ directory, log: join(directory, 'log'), signal: new AbortController().signal },
    env: { APT_CONFIG: join(directory, 'apt.conf') },
    onProgress: (step) => void steps.push(step),
  }
  // Of a connection that breaks apt only warns.
  server = createServer((request) => {
    requests.push(request.url ?? '')
    request.socket.destroy()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  writeFileSync(join(directory, 'sources.list'), `deb [trusted=yes] http://127.0.0.1:${port}/debian bookworm main\n`)
  mkdirSync(join(directory, 'sources.list.d'))
  writeFileSync(
    join(directory, 'apt.conf'),
    `Dir::Etc::sourcelist "${directory}/sources.list";\nDir::Etc::sourceparts "${directory}/sources.list.d";\nAcquire::http::Proxy "DIRECT";\nAcquire::Retries "0";\n`,
  )
})
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve))
  rmSync(directory, { recursive: true })
})

test('lists of packages that could not be fetched are fetched again by the next build', async () => {
  const lists = join(directory, 'apt')
  for (const round of [1, 2]) {
    requests = []
    await expect(openArchive(build, lists)).rejects.toMatchObject({ code: 'ImageBuildFailed' })
    expect(requests.length).toBeGreaterThan(0)
    expect(steps).toHaveLength(round)
  }
  expect(existsSync(join(lists, 'fetched'))).toBe(false)
})

describe('lists from before, when the lists cannot be fetched', () => {
  const FALLBACK = 'not all lists of packages can be fetched; using those from before'
  const keep = (sources: string | undefined, names: readonly string[]) => {
    const lists = join(directory, 'apt')
    mkdirSync(join(lists, 'lists'), { recursive: true })
    for (const name of names) writeFileSync(join(lists, 'lists', name), '')
    if (sources === undefined) return lists
    writeFileSync(join(lists, 'fetched'), sources)
    utimesSync(join(lists, 'fetched'), 0, 0)
    return lists
  }

  test('are used if they belong to the sources', async () => {
    const lists = keep(hashOfSources(), ['a_Release'])
    // The sources of this test have no archive of the distribution.
    await expect(openArchive(build, lists)).rejects.toMatchObject({ code: 'ImageSourcesMissing' })
    expect(steps).toEqual(['fetching the lists of packages', FALLBACK])
  })

  test.each([
    ['belong to other sources', () => keep('0123456789abcdef', ['a_Release'])],
    ['belong to unknown sources', () => keep(undefined, ['a_Release'])],
    ['are missing', () => keep(hashOfSources(), [])],
  ])('are not used if they %s', async (_, kept) => {
    await expect(openArchive(build, kept())).rejects.toMatchObject({ code: 'ImageBuildFailed' })
    expect(steps).toEqual(['fetching the lists of packages'])
  })
})
