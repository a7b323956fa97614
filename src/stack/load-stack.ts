// A stack file to the stack, in three steps: the text (or the module), then the schema, then what only the file as a whole, its
// surroundings and the addresses given before can tell. Each step tells all of its problems at once.

import { existsSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { explain, wantedByDefault } from '../document/explain.ts'
import { formatProblems, type Located, type Problem, withoutText } from '../document/located.ts'
import { YamlText } from '../document/yaml-text.ts'
import { HoldfastError, reasonOf } from '../lib/errors.ts'
import { readRegularFile } from '../lib/file-source.ts'
import { resolveStack } from './load/resolve-stack.ts'
import { StackResolver } from './load/resolver.ts'
import { importStack } from './load/stack-module.ts'
import { stackSchema } from './schema.ts'
import { machineSpecs, type Stack } from './stack.ts'

export interface StackContext {
  /** Path of the stack file: YAML, or TypeScript by its ending. */
  readonly file: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Addresses that the machines of a stack have had, by its name. */
  readonly kept?: (stack: string) => Promise<Readonly<Record<string, string>> | undefined>
}

const STACK_FILES = ['stack.yaml', 'stack.yml', 'holdfast.config.ts'] as const

/** Throws a HoldfastError with code StackInvalid that lists every problem. */
export async function loadStack({ file, env, kept }: StackContext): Promise<Stack> {
  const shown = shortened(file)
  const document = await readDocument(file, shown)
  const parsed = stackSchema.safeParse(document.value, { error: wantedByDefault })
  if (!parsed.success) throw invalid(shown, explain(parsed.error.issues, document))
  const context = { file: shown, env, readFile: readText, readSecret: readText }
  const resolver = new StackResolver(document, context, parsed.data.target)
  const stack = resolveStack(parsed.data, (await kept?.(parsed.data.name)) ?? {}, resolver)
  if (resolver.problems.length > 0) throw invalid(shown, resolver.problems)
  return stack
}

/** What to keep, so that no machine moves. */
export function machineAddresses(stack: Stack): Record<string, string> {
  return Object.fromEntries(machineSpecs(stack).map(({ name, address }) => [name, address]))
}

/** The stack file of a directory, if there is one. */
export function findStackFile(directory: string): string | undefined {
  const found = STACK_FILES.filter((name) => existsSync(join(directory, name)))
  if (found.length > 1)
    throw new HoldfastError(
      'Usage',
      `Cannot choose between ${found.join(' and ')}: they are all here; name one of them`,
    )
  return found.length === 0 ? undefined : join(directory, found[0])
}

async function readDocument(file: string, shown: string): Promise<Located> {
  if (/\.[cm]?[jt]s$/u.test(file)) return withoutText(await importStack(file, shown))
  const yaml = new YamlText(readMain(file))
  if (yaml.faults.length > 0) throw invalid(shown, yaml.faults)
  return yaml
}

function readMain(file: string): string {
  try {
    return readText(file)
  } catch (error) {
    throw new HoldfastError('FileUnreadable', `Cannot read "${file}": ${reasonOf(error)}`, { cause: error })
  }
}

function readText(path: string): string {
  return readRegularFile(path).toString('utf8')
}

/** As people name it: relative where it lies below the working directory. */
function shortened(file: string): string {
  const path = relative('.', file)
  return path.startsWith('..') || isAbsolute(path) ? file : path
}

function invalid(file: string, problems: readonly Problem[]): HoldfastError {
  return new HoldfastError('StackInvalid', formatProblems(file, problems))
}
