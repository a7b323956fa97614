// What a command is, and how its arguments are read. A command declares its options as data; help, checks
// and the types of the parsed values all come from that one declaration.
//
// One or two dashes mean the same for every option, and a value follows after a space or `=`: that is how
// Go programs read their flags, so `-conf Corefile -dns.port=53` works as it does with CoreDNS.

import type { Readable, Writable } from 'node:stream'
import { closest } from '../lib/closest.ts'
import { HoldfastError } from '../lib/errors.ts'

/** The world outside the command, so that tests can bring their own. */
export interface Io {
  /** A terminal, when `isTTY` is set: questions can be answered there. */
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  readonly stdout: Writable & { readonly isTTY?: boolean }
  readonly stderr: Writable & { readonly isTTY?: boolean }
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted by the first SIGINT or SIGTERM after the call, whose name is the reason; the second one ends the process. */
  stopSignal(): AbortSignal
  /** Calls the listener on every SIGHUP. */
  onHangup(listener: () => void): void
}

export interface Option {
  readonly summary: string
  /** Placeholder of the option's value in the help; an option without one is a switch. */
  readonly value?: string
  /** What the option means without a value; a value is then only taken after `=`, as with Go's booleans. */
  readonly bare?: string
  /** May be given several times. */
  readonly repeat?: boolean
}

type Options = Readonly<Record<string, Option>>

type OptionValue<O extends Option> = O extends { value: string }
  ? O extends { repeat: true }
    ? readonly string[]
    : string | undefined
  : boolean

export interface Arguments<O extends Options> {
  readonly positionals: readonly string[]
  readonly options: { readonly [Name in keyof O]: OptionValue<O[Name]> }
}

interface CommandDefinition<O extends Options> {
  /** One or two words: `dns`, `zone check`. */
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** What follows the name: `FILE... [--origin NAME]`. */
  readonly usage: string
  readonly options: O
  /** Names of positionals; `FILE...` takes one or more, `[NAME]` and `[NAME...]` may be left out. Without it there are none. */
  readonly positionals?: readonly string[]
  /** It runs until it is stopped: SIGTERM is its normal end. */
  readonly isServer?: boolean
  /** Resolves to the exit code. */
  run(args: Arguments<O>, io: Io): Promise<number>
}

export interface Command {
  readonly name: string
  readonly summary: string
  readonly usage: string
  readonly options: Options
  readonly isServer: boolean
  run(argv: readonly string[], io: Io): Promise<number>
}

export function command<const O extends Options>(definition: CommandDefinition<O>): Command {
  const { name, summary, usage, options, isServer = false } = definition
  const run = async (argv: readonly string[], io: Io) => definition.run(parseArguments(definition, argv), io)
  return { name, summary, usage, options, isServer, run }
}

function parseArguments<O extends Options>(definition: CommandDefinition<O>, argv: readonly string[]): Arguments<O> {
  const options: Record<string, boolean | string | string[] | undefined> = {}
  for (const [name, option] of Object.entries(definition.options)) {
    options[name] = option.value === undefined ? false : option.repeat ? [] : undefined
  }
  const positionals: string[] = []
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]
    if (word === '--') {
      positionals.push(...argv.slice(index + 1))
      break
    }
    const match = /^--?([^-=][^=]*)(?:=(.*))?$/su.exec(word)
    if (match === null) {
      positionals.push(word)
      continue
    }
    const [, name, attached] = match
    const option = Object.hasOwn(definition.options, name) ? definition.options[name] : undefined
    if (option === undefined) throw unknownOption(definition, word, name)
    if (option.value === undefined) {
      if (attached !== undefined) throw usageError(definition, `option "--${name}" takes no value`)
      options[name] = true
      continue
    }
    const value = attached ?? option.bare ?? argv[++index]
    if (value === undefined)
      throw usageError(definition, `option "--${name}" is the last word; expected ${option.value} after it`)
    const before = options[name]
    if (Array.isArray(before)) before.push(value)
    else if (before !== undefined) throw usageError(definition, `option "--${name}" is given twice; expected it once`)
    else options[name] = value
  }
  checkPositionals(definition, positionals)
  return { positionals, options: options as Arguments<O>['options'] }
}

function checkPositionals(definition: CommandDefinition<Options>, given: readonly string[]): void {
  const wanted = definition.positionals ?? []
  const missing = wanted.find((name, index) => index >= given.length && !name.startsWith('['))
  if (missing !== undefined) throw usageError(definition, `${missing} is missing`)
  const endless = /\.\.\.\]?$/u.test(wanted.at(-1) ?? '')
  if (given.length > wanted.length && !endless) {
    throw usageError(definition, `unexpected argument "${given[wanted.length]}"`)
  }
}

function unknownOption(definition: CommandDefinition<Options>, word: string, name: string): HoldfastError {
  const near = closest(name, Object.keys(definition.options))
  return usageError(definition, `unknown option "${word}"${near === undefined ? '' : `; did you mean "--${near}"?`}`)
}

function usageError(definition: { readonly name: string }, problem: string): HoldfastError {
  return new HoldfastError('Usage', `Cannot run "holdfast ${definition.name}": ${problem}`, {
    hint: `"holdfast ${definition.name} --help" shows its options`,
  })
}
