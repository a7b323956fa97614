import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openArchive } from './archive.ts'
import type { Build } from './build-step.ts'

let directory: string
let server: Server
let requests: string[]
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-archive-'))
  requests = []
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
  const steps: string[] = []
  const build: Build = {
    ...{ directory, log: join(directory, 'log'), signal: new AbortController().signal },
    env: { APT_CONFIG: join(directory, 'apt.conf') },
    onProgress: (step) => void steps.push(step),
  }
  const lists = join(directory, 'apt')
  for (const round of [1, 2]) {
    requests = []
    await expect(openArchive(build, lists)).rejects.toMatchObject({ code: 'ImageBuildFailed' })
    expect(requests.length).toBeGreaterThan(0)
    expect(steps).toHaveLength(round)
  }
  expect(existsSync(join(lists, 'fetched'))).toBe(false)
})
