// A stack file to the stack, in three steps: the text (or the module), then the schema, then what only the file as a whole, its
// surroundings and the addresses given before can tell. Problems of all steps are reported at once, as far as they are certain.

import { existsSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { explain, wantedByDefault } from '../document/explain.ts'
import { listProblems, type Located, type Problem, withoutText } from '../document/located.ts'
import { YamlText } from '../document/yaml-text.ts'
import { HoldfastError, reasonOf } from '../lib/errors.ts'
import { readRegularFile } from '../lib/file-source.ts'
import { resolveStack } from './load/resolve-stack.ts'
import { StackResolver } from './load/resolver.ts'
import { importStack } from './load/stack-module.ts'
import { isApart, withoutFaults } from './load/without-faults.ts'
import { type StackDocument, stackSchema } from './schema.ts'
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
  const resolve = async (data: StackDocument) => {
    const context = { file: shown, env, readFile: readText, readSecret: readText }
    const resolver = new StackResolver(document, context, data.target)
    const stack = resolveStack(data, (await kept?.(data.name)) ?? {}, resolver)
    return { stack, problems: resolver.problems }
  }
  if (!parsed.success) {
    const problems = explain(parsed.error.issues, document)
    throw invalid(shown, [...problems, ...(await furtherProblems(document.value, parsed.error.issues, resolve))])
  }
  const { stack, problems } = await resolve(parsed.data)
  if (problems.length > 0) throw invalid(shown, problems)
  return stack
}

/** Faults of meaning in the parts of a file whose form is right. */
async function furtherProblems(
  value: unknown,
  issues: Parameters<typeof withoutFaults>[1],
  resolve: (data: StackDocument) => Promise<{ readonly problems: readonly Problem[] }>,
): Promise<readonly Problem[]> {
  const reduced = withoutFaults(value, issues)
  const parsed = stackSchema.safeParse(reduced?.value, { error: wantedByDefault })
  if (reduced === undefined || !parsed.success) return []
  // The faults of form are what must not be lost.
  const { problems } = await resolve(parsed.data).catch(() => ({ problems: [] }))
  return problems.filter(({ path = [] }) => isApart(path, reduced.removed))
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
  const { message, ...faults } = listProblems(file, problems)
  return new HoldfastError('StackInvalid', message, faults)
}
