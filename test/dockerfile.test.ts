// The image cannot be built without Docker; what it copies and how it runs can be read.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseDocument } from 'yaml'

const root = join(import.meta.dirname, '..')
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
const instructions = (word: string) =>
  [...dockerfile.matchAll(new RegExp(`^${word} (.*)$`, 'gmu'))].map(([, rest]) => rest)
const copied = instructions('COPY')
  .filter((rest) => !rest.startsWith('--from='))
  .flatMap((rest) => rest.split(' ').slice(0, -1))

test('copies what is there and not ignored', () => {
  const [everything, ...exceptions] = readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n')
  expect(everything).toBe('*')
  expect(copied).toContain('src')
  for (const path of copied) {
    expect(globSync(path, { cwd: root }), path).toEqual([path])
    expect(exceptions, path).toContain(`!${path}`)
  }
})

test('has what the published package has to have', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] }
  const built = instructions('COPY').flatMap((rest) => /^--from=build \/opt\/holdfast\/(\S+)/u.exec(rest)?.[1] ?? [])
  expect(built.toSorted()).toEqual(['dist', 'node_modules'])
  expect([...copied, ...built]).toEqual(
    expect.arrayContaining(['package.json', ...files.filter((path) => /bin|dist/u.test(path))]),
  )
})

test('runs as the user of the manifests', () => {
  expect(instructions('USER')).toEqual(['10001:10001'])
  for (const file of globSync('deploy/kubernetes/base/*/deployment.yaml', { cwd: root })) {
    const document = parseDocument(readFileSync(join(root, file), 'utf8'))
    expect(document.toJS()).toMatchObject({
      spec: {
        template: { spec: { securityContext: { runAsUser: 10_001, runAsGroup: 10_001, runAsNonRoot: true } } },
      },
    })
  }
})
