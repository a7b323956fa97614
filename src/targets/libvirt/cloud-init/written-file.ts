// A file that cloud-init writes, as an entry of `write_files`.

import { Secret } from '../../../lib/secret.ts'
import { type Content, hasSecrets, plain, reveal } from '../../../machine/content.ts'
import type { MachineFile } from '../../../machine/machine.ts'
import { octal } from '../../../machine/octal.ts'
import { Block, isBlockText, Once, type YamlMap, type YamlValue } from './yaml-content.ts'

export type WrittenFile = Pick<MachineFile, 'path' | 'owner' | 'mode' | 'content'>

/** One of our own: root's, and for everybody to read. */
export function ownFile(path: string, text: string): WrittenFile {
  return { path, owner: 'root', mode: 0o644, content: plain(text) }
}

/** `defer`: after users and packages have come, for files of theirs. */
export function writeFile(
  { path, owner, mode, content }: WrittenFile,
  { defer }: { readonly defer: boolean },
): YamlMap {
  return {
    path,
    owner: `${owner}:${owner}`,
    permissions: octal(mode),
    defer: defer ? true : undefined,
    ...written(content),
  }
}

/** Entries of files that several machines have, each made once. */
export type WrittenFiles = WeakMap<WrittenFile, Once>

/** `defer` has to be the same each time. */
export function writeOnce(file: WrittenFile, written: WrittenFiles, how: { readonly defer: boolean }): Once {
  const entry = written.get(file) ?? new Once(writeFile(file, how))
  written.set(file, entry)
  return entry
}

function written(content: Content): { readonly encoding?: string; readonly content: YamlValue } {
  const text = reveal(content)
  if (text === '') return { content: '' }
  if (isBlockText(text)) return { content: new Block(content) }
  const encoded = Buffer.from(text).toString('base64')
  return { encoding: 'base64', content: hasSecrets(content) ? new Secret(encoded) : encoded }
}
