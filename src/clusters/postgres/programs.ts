// The Python programs that run next to PostgreSQL. They are files of their own, so that editors and linters know them.

import { readFileSync } from 'node:fs'

export type ProgramName = 'clear-unfinished' | 'fence' | 'fencing' | 'kept_data' | 'replace_data' | 'start-patroni'

/** Its text. Read when machines are rendered, which a name server never does. */
export function program(name: ProgramName): string {
  return readFileSync(programUrl(name), 'utf8')
}

export function programUrl(name: ProgramName): URL {
  return new URL(`./programs/${name}.py`, import.meta.url)
}
