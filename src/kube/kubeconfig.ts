// Reads kubeconfig files as kubectl does: of several files the first that has an entry counts, and paths are relative to
// the file they stand in. Only the context that is wanted is looked at. Messages name no value that could be a secret.

import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { HoldfastError, reasonOf } from '../lib/errors.ts'
import { readIdentity } from './kubeconfig-user.ts'
import { Entry, invalid } from './kubeconfig-entry.ts'
import type { Site } from './site.ts'

interface Document {
  readonly file: string
  readonly content: Readonly<Record<string, unknown>>
}

/** Files that are not there are passed over, unless there is none at all. */
export async function readKubeconfig(files: readonly string[], context: string | undefined): Promise<Site> {
  const documents = await readDocuments(files)
  const name = context ?? currentContext(documents)
  const chosen = find(documents, 'contexts', 'context', name)
  const cluster = find(documents, 'clusters', 'cluster', chosen.requiredText('cluster'))
  const userName = chosen.text('user')
  const user = userName === undefined ? undefined : find(documents, 'users', 'user', userName)
  const server = cluster.requiredText('server').replace(/\/+$/u, '')
  if (!URL.canParse(server) || !/^https?:/u.test(server))
    throw cluster.invalid('its server is no URL; expected https://host:port')
  const trust = {
    ca: await cluster.pem('certificate-authority'),
    insecure: cluster.flag('insecure-skip-tls-verify'),
    serverName: cluster.text('tls-server-name'),
  }
  return {
    origin: `context "${name}" of "${chosen.file}"`,
    server,
    namespace: chosen.text('namespace'),
    trust,
    proxyUrl: cluster.text('proxy-url'),
    identity: user === undefined ? {} : await readIdentity(user, { server, trust }),
  }
}

async function readDocuments(files: readonly string[]): Promise<Document[]> {
  const documents: Document[] = []
  let missing: HoldfastError | undefined
  for (const file of files) {
    try {
      documents.push(await readDocument(file))
    } catch (error) {
      if (!isMissing(error)) throw error
      missing ??= error
    }
  }
  if (documents.length === 0 && missing !== undefined) throw missing
  return documents
}

async function readDocument(file: string): Promise<Document> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw invalid(file, `${reasonOf(error)}; expected a file that can be read`, error)
  })
  const { LineCounter, parseDocument } = await import('yaml')
  const lineCounter = new LineCounter()
  const parsed = parseDocument(text, { lineCounter, prettyErrors: false })
  const [fault] = parsed.errors
  if (fault !== undefined) {
    const { line, col } = lineCounter.linePos(fault.pos[0])
    throw invalid(file, `line ${line}, column ${col} is no valid YAML; expected a kubeconfig`)
  }
  const content: unknown = parsed.toJS()
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw invalid(file, 'it is no map; expected a kubeconfig with clusters, users and contexts')
  return { file: resolve(file), content: { ...content } }
}

function isMissing(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
}

function currentContext(documents: readonly Document[]): string {
  for (const { content } of documents) {
    const name = content['current-context']
    if (typeof name === 'string' && name !== '') return name
  }
  throw invalid(documents[0].file, `it names no current-context; ${wanted(documents, 'contexts')}`)
}

function find(documents: readonly Document[], list: string, kind: string, name: string): Entry {
  for (const { file, content } of documents) {
    const value = entries(content[list]).find((entry) => entry.name === name)?.[kind]
    if (value !== undefined) return new Entry({ file, directory: dirname(file), kind, name, value })
  }
  throw invalid(documents[0].file, `it has no ${kind} "${name}"; ${wanted(documents, list)}`)
}

function entries(list: unknown): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(list)) return []
  return list.filter((entry): entry is Record<string, unknown> => typeof entry === 'object' && entry !== null)
}

function wanted(documents: readonly Document[], list: string): string {
  const names = documents.flatMap(({ content }) => entries(content[list]).map(({ name }) => `"${String(name)}"`))
  return names.length === 0 ? `expected ${list}` : `expected one of ${names.join(', ')}`
}
