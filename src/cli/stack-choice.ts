// Which stack a command is about: a stack file, the one in this directory, the name of a stack that is known here, or the
// only one there is.

import { readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { HoldfastError, reasonOf } from '../lib/errors.ts'
import { stackDirectory } from '../stack/directory.ts'
import { StackHandle } from '../stack/handle.ts'
import { findStackFile, loadStack } from '../stack/load-stack.ts'
import { Operator } from '../stack/operator.ts'
import { readRecord } from '../stack/record.ts'
import { recall, recordOf } from '../stack/remembered.ts'
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

/** What is known of a stack may be lost, and hosts that it had machines on. */
export interface OpenHow {
  /** Machines of a stack of that name that was made from another place are taken for its own. */
  readonly takesForeign?: boolean
  /** Hypervisors that are gone for good. */
  readonly without?: readonly string[]
}

export const withoutOption = {
  without: {
    value: 'URI',
    summary: 'a hypervisor that is gone for good: what the stack had there is forgotten',
    repeat: true,
  },
} as const

export async function openStack(choice: StackChoice, io: Io, how: OpenHow = {}): Promise<Operator> {
  const state = stateOf(choice.options.state, io)
  const { file, name } = await chosenFile(choice.positionals[0], state)
  const operator = await Operator.open({ file, ...contextOf(state, io), ...how })
  if (name !== undefined && name !== operator.name) throw otherStack(name, operator)
  for (const notice of operator.stack.notices) io.stderr.write(`holdfast: ${notice}\n`)
  return operator
}

/** By its directory alone where it is known there: its file may be gone or broken by now. */
export async function openHandle(
  { positionals: [chosen], options }: StackChoice,
  io: Io,
  how: OpenHow = {},
): Promise<StackHandle> {
  const state = stateOf(options.state, io)
  const { name, file } = choose(chosen, state)
  const context = { ...contextOf(state, io), ...how }
  if (file === undefined) return StackHandle.find({ name, ...context })
  const names = await stacksFrom(file, state)
  if (names.length === 1) return StackHandle.find({ name: names[0], ...context })
  // Of several from one file (its name was changed), the one that it names now.
  const stack = await loadStack({ file, env: io.env })
  const isKnown = recordOf(await recall(stackDirectory(state, stack.name))) !== undefined
  return isKnown ? openStack({ positionals: [file], options }, io, how) : StackHandle.findByFile(stack, context)
}

function contextOf(state: string, io: Io) {
  return { state, env: io.env, isRoot: isRoot(), stopSignal: () => io.stopSignal() }
}

/** What cannot be undone is not done to a stack only because there is no other. */
export function refuseGuess(chosen: string | undefined): void {
  if (chosen !== undefined || findStackFile('.') !== undefined) return
  throw new HoldfastError('NoStack', 'Cannot choose a stack to remove: there is no stack file here; give its name')
}

/** Whether there is a stack to speak of: one was named, or there is a file here, or some are known. */
export function hasStack(chosen: string | undefined, state: string | undefined, io: Io): boolean {
  return chosen !== undefined || findStackFile('.') !== undefined || knownStacks(stateOf(state, io)).length > 0
}

/** Without symbolic links: one stack has one directory, by whichever name it was reached. */
export function stateOf(given: string | undefined, io: Io): string {
  const state = given ?? defaultStateDirectory(io.env, isRoot())
  if (state !== undefined && state !== '') return realPath(resolve(state))
  const what = state === undefined ? 'HOME is not set' : 'its name is empty'
  throw new HoldfastError('Usage', `Cannot find a directory for stacks: ${what}; give one with --state`)
}

/** What does not exist yet is taken by its name. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path === dirname(path) ? path : join(realPath(dirname(path)), basename(path))
  }
}

type Chosen = { readonly file: string; readonly name?: never } | { readonly name: string; readonly file?: never }

/** A name is that of a stack which is known here. */
function choose(chosen: string | undefined, state: string): Chosen {
  if (chosen !== undefined && (/[./]/u.test(chosen) || isFile(chosen))) return { file: resolve(chosen) }
  const found = chosen === undefined ? findStackFile('.') : undefined
  if (found !== undefined) return { file: resolve(found) }
  const known = knownStacks(state)
  const name = chosen === undefined && known.length === 1 ? known[0] : chosen
  if (name !== undefined && known.includes(name)) return { name }
  throw noStack(chosen, state, known)
}

async function chosenFile(
  chosen: string | undefined,
  state: string,
): Promise<{ readonly file: string; readonly name?: string }> {
  const { file, name } = choose(chosen, state)
  if (file !== undefined) return { file }
  const { record } = stackDirectory(state, name)
  const kept = await readRecord(record)
  if (kept !== undefined) return { file: kept.file, name }
  throw new HoldfastError('NoStack', `Cannot find the file of stack "${name}": there is no ${record}; give the file`)
}

/** The stacks that were brought up from a file. A record that cannot be read is told where its own stack is asked for. */
async function stacksFrom(file: string, state: string): Promise<string[]> {
  const names: string[] = []
  for (const name of knownStacks(state)) {
    const record = recordOf(await recall(stackDirectory(state, name)))
    if (record?.file === file) names.push(name)
  }
  return names
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

export function knownStacks(state: string): string[] {
  const directory = join(state, 'stacks')
  try {
    const entries = readdirSync(directory, { withFileTypes: true })
    return entries
      .filter((entry) => !entry.isFile())
      .map(({ name }) => name)
      .toSorted()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new HoldfastError('FileUnreadable', `Cannot read "${directory}": ${reasonOf(error)}`, {
      cause: error,
      hint: 'stacks are kept for one user: run the command as that one, or choose another directory with --state',
    })
  }
}

function noStack(chosen: string | undefined, state: string, known: readonly string[]): HoldfastError {
  const hint = knownHint(known)
  if (chosen !== undefined)
    return new HoldfastError(
      'NoStack',
      `Cannot find stack "${chosen}": there is no such file, and no stack of that name in ${state}`,
      { hint },
    )
  const what = known.length === 0 ? 'no stack is known' : 'several stacks are known'
  return new HoldfastError(
    'NoStack',
    `Cannot choose a stack: no stack.yaml here, and ${what}; give a stack file or a name`,
    { hint },
  )
}

function otherStack(name: string, { stack }: Operator): HoldfastError {
  return new HoldfastError(
    'NoStack',
    `Cannot use stack "${name}": its file ${stack.file} has the stack "${stack.name}" by now; give the name that is meant`,
    { hint: `"holdfast down ${name}" stops the one from before` },
  )
}

function knownHint(names: readonly string[]): string {
  return names.length === 0
    ? '"holdfast up examples/lab/stack.yaml" makes one to try'
    : `known stacks: ${names.join(', ')}`
}
