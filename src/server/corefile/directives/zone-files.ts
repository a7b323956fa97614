// What `file` and `auto` have in common: paths under `root`, and options of the same name and meaning.

import { isAbsolute, join } from 'node:path'
import { readArguments, readDuration } from '../arguments.ts'
import type { Statement } from '../syntax.ts'
import { readZones } from '../zones.ts'
import type { BlockScope } from './directive.ts'

export const DEFAULT_RELOAD_MS = 60_000

export function underRoot(root: string | undefined, path: string): string {
  return root === undefined || isAbsolute(path) ? path : join(root, path)
}

export function readReload(option: Statement): number {
  return readDuration(readArguments(option, 'reload DURATION', 1)[0])
}

/** No names mean every name. */
export function readFallthrough({ args }: Statement): readonly string[] {
  return args.length === 0 ? ['.'] : readZones(args)
}

/** An option CoreDNS dropped long ago but still accepts. */
export function ignoreUpstream({ name }: Statement, { notice }: BlockScope): void {
  notice(name, '"upstream" has no effect, as in CoreDNS')
}
