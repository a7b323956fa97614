// A fault at one place of a Corefile. Faults are thrown as CorefileProblem inside this folder, gathered
// as far as reading can go on, and leave it as one HoldfastError that lists them all.

import { HoldfastError } from '../../lib/errors.ts'

export interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Something accepted that has no effect here, or not the effect its author may expect. */
export interface Notice {
  /** `Corefile:7:5` */
  readonly at: string
  readonly message: string
}

export class CorefileProblem extends Error {
  readonly position: Position

  constructor(position: Position, message: string) {
    super(message)
    this.name = 'CorefileProblem'
    this.position = position
  }
}

/** `message` reads `<what is>; <what is wanted>`. */
export function reject(position: Position, message: string): never {
  throw new CorefileProblem(position, message)
}

export function formatPosition({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`
}

export function corefileError(problems: readonly CorefileProblem[]): HoldfastError {
  const lines = problems.map((problem) => `Cannot load ${formatPosition(problem.position)}: ${problem.message}`)
  return new HoldfastError('CorefileInvalid', lines.join('\n'))
}
