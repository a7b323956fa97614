// Which stack a command is about: a stack file, the one in this directory, the name of a stack that is known here, or the
// only one there is.

import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { HoldfastError } from '../lib/errors.ts'
import { stackDirectory } from '../stack/directory.ts'
import { StackHandle } from '../stack/handle.ts'
import { findStackFile } from '../stack/load-stack.ts'
import { Operator } from '../stack/operator.ts'
import { readRecord } from '../stack/record.ts'
import type { Io } from './command.ts'
import { defaultStateDirectory } from './state-directory.ts'

export const stackOptions = {
  state: { value: 'DIR', summary: 'where stacks are kept; /var/lib/holdfast for root, else ~/.local/state/holdfast' },
} as const

export interface StackChoice {
  readonly positionals: readonly string[]
  readonly options: { readonly state: string | undefined }
}

export const isRoot = (): boolean => process.geteuid?.() === 0

export async function openStack({ positionals: [chosen], options }: StackChoice, io: Io): Promise<Operator> {
  const state = stateOf(options.state, io)
  const operator = await Operator.open({ file: await fileOf(chosen, state), state, env: io.env, isRoot: isRoot() })
  for (const notice of operator.stack.notices) io.stderr.write(`holdfast: ${notice}\n`)
  return operator
}

/** By its directory alone where it is known there: its file may be gone or broken by now. */
export async function openHandle({ positionals: [chosen], options }: StackChoice, io: Io): Promise<StackHandle> {
  const state = stateOf(options.state, io)
  const file = await fileOf(chosen, state)
  for (const name of knownStacks(state)) {
    const record = await readRecord(stackDirectory(state, name).record)
    if (record?.file === file) return new StackHandle(state, name, isRoot())
  }
  return openStack({ positionals: [file], options }, io)
}

/** Whether there is a stack to speak of: one was named, or there is a file here, or some are known. */
export function hasStack(chosen: string | undefined, state: string | undefined, io: Io): boolean {
  return chosen !== undefined || findStackFile('.') !== undefined || knownStacks(stateOf(state, io)).length > 0
}

export function stateOf(given: string | undefined, io: Io): string {
  const state = given ?? defaultStateDirectory(io.env, isRoot())
  if (state !== undefined) return resolve(state)
  throw new HoldfastError('Usage', 'Cannot find a directory for stacks: HOME is not set; give one with --state')
}

async function fileOf(chosen: string | undefined, state: string): Promise<string> {
  if (chosen !== undefined && (existsSync(chosen) || /[./]/u.test(chosen))) return resolve(chosen)
  const names = chosen === undefined ? knownStacks(state) : [chosen]
  const found = chosen === undefined ? findStackFile('.') : undefined
  if (found !== undefined) return resolve(found)
  const record = names.length === 1 ? await readRecord(stackDirectory(state, names[0]).record) : undefined
  if (record !== undefined) return record.file
  if (chosen !== undefined)
    throw new HoldfastError(
      'NoStack',
      `Cannot find stack "${chosen}": there is no such file, and no stack of that name in ${state}`,
      {
        hint: knownHint(knownStacks(state)),
      },
    )
  const what =
    names.length === 0
      ? 'no stack.yaml here, and no stack is known'
      : 'no stack.yaml here, and several stacks are known'
  throw new HoldfastError('NoStack', `Cannot choose a stack: ${what}; give a stack file or a name`, {
    hint: knownHint(names),
  })
}

export function knownStacks(state: string): string[] {
  const directory = join(state, 'stacks')
  return existsSync(directory) ? readdirSync(directory).toSorted() : []
}

function knownHint(names: readonly string[]): string {
  return names.length === 0
    ? '"holdfast up examples/lab/stack.yaml" makes one to try'
    : `known stacks: ${names.join(', ')}`
}
