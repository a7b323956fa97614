// The name of a key of a zone in etcd: what follows the prefix is the zone's origin, with or without the final dot.

import { NameError, parseName, ROOT } from '../dns/name.ts'

/** Undefined when it is no domain name. */
export function originOfKey(name: Uint8Array): Uint8Array | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(name)
    // `@` stands for another name in zone files; white space and the like are typing errors rather than names.
    return text === '@' || /[\s\p{Cc}]/u.test(text) ? undefined : parseName(text, ROOT)
  } catch (thrown) {
    if (thrown instanceof NameError || thrown instanceof TypeError) return undefined
    throw thrown
  }
}
