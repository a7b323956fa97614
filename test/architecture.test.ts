// Holds the sources to ARCHITECTURE.md: the table "folder | may import" is read from the document itself, so the
// document cannot drift. Imports are found by their text; the formatter keeps that text regular.

import { globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

interface Import {
  readonly specifier: string
  /** The imported file relative to src/, for our own ones. */
  readonly file: string | undefined
  readonly typeOnly: boolean
}

interface Source {
  readonly path: string
  readonly folder: string
  /** Without comments. */
  readonly code: string
  readonly imports: readonly Import[]
}

const sources = globSync('**/*.ts', { cwd: join(root, 'src') })
  .filter((path) => !path.endsWith('.test.ts'))
  .toSorted()
  .map(readSource)
const table = readTable()

test('there are sources to look at', () => {
  expect(sources.length).toBeGreaterThan(10)
  expect(sources.flatMap((source) => source.imports).length).toBeGreaterThan(10)
})

describe('ARCHITECTURE.md', () => {
  test('names every folder below src, and no other', () => {
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect([...table.keys()].toSorted()).toEqual(['main.ts', ...folders.map((folder) => folder.name)].toSorted())
  })

  test('has at most 150 lines', () => {
    expect(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(151)
  })

  test('allows every import that there is', () => {
    const forbidden = eachImport(({ folder }, { file, typeOnly }) => {
      if (file === undefined) return false
      const target = folderOf(file)
      const allowed = table.get(folder)
      return target !== folder && !allowed?.values.has(target) && !(typeOnly && allowed?.types.has(target))
    })
    expect(forbidden).toEqual([])
  })

  test('allows no import that is not there', () => {
    const used = new Set(
      sources.flatMap(({ folder, imports }) =>
        imports.flatMap(({ file, typeOnly }) => {
          if (file === undefined) return []
          return typeOnly ? [`${folder} types ${folderOf(file)}`] : [`${folder} ${folderOf(file)}`]
        }),
      ),
    )
    const unused = [...table].flatMap(([folder, { values, types }]) => [
      ...[...values].filter((each) => !used.has(`${folder} ${each}`)).map((each) => `${folder}: ${each}`),
      ...[...types].filter((each) => !used.has(`${folder} types ${each}`)).map((each) => `${folder}: types of ${each}`),
    ])
    expect(unused).toEqual([])
  })
})

describe('imports', () => {
  test('form no cycle between files', () => {
    expect(findCycles()).toEqual([])
  })

  test('carry the extension of the file', () => {
    expect(eachImport((_, { specifier }) => specifier.startsWith('.') && !specifier.endsWith('.ts'))).toEqual([])
  })

  test('of node modules and packages do not occur in dns and zone', () => {
    expect(eachImport(({ folder }, { file }) => isPure(folder) && file === undefined)).toEqual([])
  })

  test('of child_process occur only in lib/exec.ts and lib/daemon.ts, where other programs are started', () => {
    expect(eachImport((_, { specifier }) => specifier.includes('child_process'))).toEqual([
      'lib/daemon.ts imports node:child_process',
      'lib/exec.ts imports node:child_process',
    ])
  })
})

describe('code', () => {
  test('in dns and zone is synchronous and has no timers', () => {
    const clocks = /\basync\b|\bawait\b|\bnew Promise\b|\bset(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b/u
    expect(findIn((source) => isPure(source.folder), clocks)).toEqual([])
  })

  test('outside main.ts touches neither arguments, environment nor exit code', () => {
    expect(findIn(({ path }) => path !== 'main.ts', /\bprocess\.(?:argv|env|exit|exitCode|abort)\b/u)).toEqual([])
  })

  test('has no mutable state at module level', () => {
    // The entry file of a worker is a program of its own: its module level is that program's main.
    const imported = ({ path }: Source) => !/(?:^|[/-])worker\.ts$/u.test(path)
    expect(findIn(imported, /^(?:export )?(?:let|var) /mu)).toEqual([])
    const collection =
      /^(?:export )?const \w+(?:: (?!readonly |Readonly)[^\n]+?)? = (?:new (?:(?:Weak)?(?:Map|Set)|Array)\b|\[)/mu
    expect(findIn(imported, collection, (code) => withoutConstants(code))).toEqual([])
  })

  test('has no default exports and no barrels', () => {
    expect(findIn(() => true, /^export default\b|^export \*/mu)).toEqual([])
    const barrels = sources.filter(({ code }) => code.replaceAll(/^export [^;]*? from '.*'$/gmsu, '').trim() === '')
    expect(barrels.map((source) => source.path)).toEqual([])
  })
})

describe('files', () => {
  test('are named after what they hold', () => {
    // dns/types.ts is the table of record types.
    const vague = /^(?:utils?|helpers?|common|types?|misc|managers?|services?|index)\.ts$/u
    const named = sources.filter(({ path }) => vague.test(basename(path)) && path !== 'dns/types.ts')
    expect(named.map((source) => source.path)).toEqual([])
    expect(sources.filter(({ path }) => !/^[a-z0-9/.-]+$/u.test(path)).map((source) => source.path)).toEqual([])
  })

  test('begin by saying what they are for', () => {
    const silent = sources.filter(({ path }) => !readFileSync(join(root, 'src', path), 'utf8').startsWith('// '))
    expect(silent.map((source) => source.path)).toEqual([])
  })
})

function isPure(folder: string): boolean {
  return folder === 'dns' || folder === 'zone'
}

function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : path
}

function readSource(path: string): Source {
  const text = readFileSync(join(root, 'src', path), 'utf8')
  const code = text.replaceAll(/\/\*.*?\*\//gsu, '').replaceAll(/(^|\s)\/\/.*$/gmu, '$1')
  const imports: Import[] = []
  const add = (specifier: string, typeOnly: boolean) => {
    const file = specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : undefined
    imports.push({ specifier, file, typeOnly })
  }
  for (const [, clause, specifier] of code.matchAll(/^(?:import|export)\b([^'"`;=]*?)\bfrom '([^']+)'/gmu)) {
    const names = clause
      .trim()
      .replaceAll(/[{}]/gu, '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
    add(specifier, clause.trimStart().startsWith('type ') || names.every((name) => name.startsWith('type ')))
  }
  for (const [, specifier] of code.matchAll(/^import '([^']+)'/gmu)) add(specifier, false)
  for (const [, specifier] of code.matchAll(/\bimport\('([^']+)'\)/gu)) add(specifier, false)
  return { path, folder: folderOf(path), code, imports }
}

/** Rows of `folder | may import`; `types of x` allows only type imports of x. */
function readTable(): Map<string, { values: Set<string>; types: Set<string> }> {
  const [, rows = ''] =
    /^\| folder \| may import \|[^\n]*\n\|[-| ]+\n((?:\|[^\n]*\n)+)/mu.exec(
      readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'),
    ) ?? []
  return new Map(
    rows
      .trimEnd()
      .split('\n')
      .map((row) => {
        const [, folder = '', allowed = ''] = row.split('|')
        const names = [...allowed.matchAll(/(types of )?`([^`]+)`/gu)]
        const pick = (types: boolean) =>
          new Set(names.filter((match) => (match[1] !== undefined) === types).map((match) => match[2]))
        return [folder.trim().replaceAll('`', ''), { values: pick(false), types: pick(true) }]
      }),
  )
}

function eachImport(matches: (source: Source, imported: Import) => boolean): string[] {
  return sources.flatMap((source) =>
    source.imports
      .filter((imported) => matches(source, imported))
      .map(({ specifier }) => `${source.path} imports ${specifier}`),
  )
}

/** Without lists that the compiler keeps from changing: `const NAMES = [ … ] as const`. */
function withoutConstants(code: string): string {
  return code.replaceAll(/^(?:export )?const \w+ = \[(?:[^\n]*|\n(?: [^\n]*\n|\n)*)\] as const$/gmu, '')
}

function findIn(
  matches: (source: Source) => boolean,
  pattern: RegExp,
  read: (code: string) => string = (code) => code,
): string[] {
  return sources.filter(matches).flatMap(({ path, code }) => {
    const match = pattern.exec(read(code))
    return match === null ? [] : [`${path}: ${match[0].trim()}`]
  })
}

function findCycles(): string[] {
  const edges = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter(({ typeOnly }) => !typeOnly).flatMap(({ file }) => file ?? []),
    ]),
  )
  const cycles: string[] = []
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
    else if (!done.has(path)) {
      for (const next of edges.get(path) ?? []) visit(next, [...trail, path])
      done.add(path)
    }
  }
  for (const path of edges.keys()) visit(path, [])
  return cycles
}
