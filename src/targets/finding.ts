// What a check says of this host: well, worth a word, or in the way of a stack.

export interface Finding {
  /** `packages`, `ports` …: what was looked at. */
  readonly check: string
  readonly state: 'ok' | 'warning' | 'problem'
  readonly message: string
  /** What to do about it: a command line, or a sentence. */
  readonly fix?: string
}

export function ok(check: string, message: string): Finding {
  return { check, state: 'ok', message }
}

export function warning(check: string, message: string, fix?: string): Finding {
  return { check, state: 'warning', message, ...(fix === undefined ? {} : { fix }) }
}

export function problem(check: string, message: string, fix?: string): Finding {
  return { check, state: 'problem', message, ...(fix === undefined ? {} : { fix }) }
}

export function isProblem({ state }: Finding): boolean {
  return state === 'problem'
}
