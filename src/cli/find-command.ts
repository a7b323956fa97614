// Which command a command line means, and what to suggest when it means none.

import { closest } from '../lib/closest.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { Command } from './command.ts'

/** A command is loaded when it is run: most need only a part of the program. */
export interface CommandEntry {
  readonly name: string
  readonly load: () => Promise<Command>
}

/** Words of other programs for what we call otherwise, best first. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  add: ['set', 'put'],
  apply: ['up'],
  cat: ['get'],
  create: ['set', 'put', 'build', 'up'],
  delete: ['rm', 'down'],
  destroy: ['down'],
  diff: ['plan'],
  list: ['ls'],
  preflight: ['doctor'],
  ps: ['status'],
  remove: ['rm', 'down'],
  serve: ['dns'],
  server: ['dns'],
  show: ['get', 'status'],
  start: ['up'],
  stop: ['down'],
  top: ['status'],
  validate: ['check'],
  verify: ['check'],
}

export function findCommand(
  argv: readonly string[],
  commands: readonly CommandEntry[],
): { readonly entry: CommandEntry; readonly rest: readonly string[] } {
  for (const entry of commands) {
    const words = entry.name.split(' ')
    if (words.every((word, index) => argv[index] === word)) return { entry, rest: argv.slice(words.length) }
  }
  throw unknownCommand(argv, commands)
}

export function familyOf(word: string, commands: readonly CommandEntry[]): readonly CommandEntry[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `))
}

function unknownCommand(argv: readonly string[], commands: readonly CommandEntry[]): HoldfastError {
  const [first, second] = argv
  const members = familyOf(first, commands).map(({ name }) => name.slice(first.length + 1))
  // `zone chekc` is compared with the commands of its family, anything else with all first words.
  const isFamily = members.length > 0
  const known = isFamily ? members : [...new Set(commands.map(({ name }) => name.split(' ')[0]))]
  const near = nearest((isFamily ? second : first) ?? '', known)
  const typed = isFamily && second !== undefined ? `${first} ${second}` : first
  const meant = near === undefined ? '' : `did you mean "${isFamily ? `${first} ${near}` : near}"? `
  const help = `see "holdfast ${isFamily ? `${first} ` : ''}--help"`
  const list = isFamily && near === undefined ? `expected one of ${members.join(', ')}; ` : ''
  const state = isFamily && second === undefined ? 'the command is incomplete' : 'no such command'
  return new HoldfastError('Usage', `Cannot run "holdfast ${typed}": ${state}; ${meant}${list}${help}`)
}

function nearest(word: string, known: readonly string[]): string | undefined {
  const meant = Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : []
  return meant.find((each) => known.includes(each)) ?? closest(word, known)
}
