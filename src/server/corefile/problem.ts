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

/** `message` reads `<state>; expected: <x>`. */
export function reject(position: Position, message: string): never {
  throw new CorefileProblem(position, message)
}

export function formatPosition({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`
}

export function corefileError(faults: readonly CorefileProblem[]): HoldfastError {
  const problems = faults.map(({ position: { file, line, column }, message }) => ({
    message: `Cannot load ${formatPosition({ file, line, column })}: ${message}`,
    place: { file, line, column },
  }))
  return new HoldfastError('CorefileInvalid', problems.map(({ message }) => message).join('\n'), { problems })
}
