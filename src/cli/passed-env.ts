// The environment of programs that we start: our own, without the variables that hold secrets of ours.

import type { Io } from './command.ts'

/** ETCDCTL_USER may be NAME:PASSWORD. */
const SECRETS: readonly string[] = ['ETCDCTL_PASSWORD', 'ETCDCTL_USER', 'USER_PASSWORD']

/** `more`: variables that a configuration takes secrets from. */
export function passedEnv(env: Io['env'], more: Iterable<string> = []): Io['env'] {
  const withheld = new Set([...SECRETS, ...more])
  return Object.fromEntries(Object.entries(env).filter(([name]) => !withheld.has(name)))
}
