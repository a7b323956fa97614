// What our own program is made of, in a checkout and in an installed package alike: its code, and the packages it needs
// at run time with those that they need.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { HoldfastError } from '../lib/errors.ts'

export interface Program {
  /** Where package.json is. */
  readonly root: string
  /** The folder of the code: `src` runs as it is, `dist` is compiled. */
  readonly code: string
  /** The Node it runs on. */
  readonly node: string
}

export interface Package {
  readonly directory: string
  /** `node_modules/zod`, or below another package where versions differ. */
  readonly place: string
  readonly version: string
}

interface Manifest {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** All that Node loads. Declarations, sources and documents stay behind. */
const LOADED = /\.(?:[cm]?js|json|node)$/u
const CODE = /(?<!\.d|\.test|\/testing)\.[jt]s$/u
/** They bring the Node we run on. */
const NODE_PACKAGE = /^node-linux-/u

export function runningProgram(): Program {
  const code = join(import.meta.dirname, '..')
  return { root: dirname(code), code: basename(code), node: process.execPath }
}

/** Paths relative to the root. */
export function codeFiles({ root, code }: Program): string[] {
  return filesBelow(join(root, code))
    .filter((path) => CODE.test(`/${path}`))
    .map((path) => join(code, path))
    .toSorted()
}

/** Paths relative to the directory of the package; what it has installed below itself is not part of it. */
export function packageFiles({ directory }: Package): string[] {
  return filesBelow(directory).filter((path) => LOADED.test(path) && !path.startsWith('node_modules/'))
}

/** Breadth first, so that the packages we name ourselves lie where we look for them. */
export function runtimePackages({ root }: Program): Package[] {
  const found = new Map<string, Package>()
  const queue = [{ directory: root, place: '', manifest: readManifest(root) }]
  for (const { directory, place, manifest } of queue)
    for (const [name, isOptional] of dependenciesOf(manifest)) {
      const at = locate(directory, name)
      if (at === undefined && isOptional) continue
      if (at === undefined) throw missing(name, root)
      const shared = join('node_modules', name)
      const isShared = (found.get(shared)?.directory ?? at) === at
      const own = isShared ? shared : join(place, 'node_modules', name)
      if (found.has(own)) continue
      const its = readManifest(at)
      found.set(own, { directory: at, place: own, version: its.version })
      queue.push({ directory: at, place: own, manifest: its })
    }
  return [...found.values()]
}

function dependenciesOf({ dependencies = {}, optionalDependencies = {} }: Manifest): Map<string, boolean> {
  const optional = Object.keys(optionalDependencies).filter((name) => !NODE_PACKAGE.test(name))
  return new Map([
    ...Object.keys(dependencies).map((name) => [name, false] as const),
    ...optional.map((name) => [name, true] as const),
  ])
}

/** As Node looks for it: in node_modules here, or in a directory further up. */
function locate(from: string, name: string): string | undefined {
  for (let directory = from; ; directory = dirname(directory)) {
    const at = join(directory, 'node_modules', name)
    if (existsSync(join(at, 'package.json'))) return at
    if (directory === dirname(directory)) return undefined
  }
}

function readManifest(directory: string): Manifest {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
}

function missing(name: string, root: string): HoldfastError {
  return new HoldfastError(
    'PackageMissing',
    `Cannot copy the program: the package "${name}" is not installed; run "npm ci" in ${root}`,
  )
}
