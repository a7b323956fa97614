// What the tests of this folder share: a Corefile with in-memory files, loaded or refused.

import { HoldfastError } from '../../lib/errors.ts'
import type { ServerBlock } from '../config.ts'
import { type CorefileContext, type LoadedCorefile, parseCorefile } from './parse-corefile.ts'

export function load(
  text: string,
  files: Readonly<Record<string, string>> = {},
  more: Partial<CorefileContext> = {},
): LoadedCorefile {
  return parseCorefile(text, {
    file: 'Corefile',
    env: {},
    hostname: 'ns1',
    readFile: (path) => {
      if (files[path] === undefined) throw new Error('ENOENT: no such file')
      return files[path]
    },
    glob: (pattern) => {
      const [before, after] = pattern.split('*')
      return Object.keys(files)
        .filter((path) => path.startsWith(before) && path.endsWith(after))
        .sort()
    },
    ...more,
  })
}

/** The only block of `.:53 { … }`. */
export function block(directives: string, files: Readonly<Record<string, string>> = {}): ServerBlock {
  return load(`.:53 {\n${directives}\n}`, files).config.blocks[0]
}

/** The message of the refusal. */
export function refusal(text: string, files: Readonly<Record<string, string>> = {}): string {
  try {
    load(text, files)
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'CorefileInvalid') return error.message
    throw error
  }
  throw new Error('the Corefile was accepted')
}
