// What the tests of stack files share: a stack file with others beside it in a directory of its own, loaded or refused.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { HoldfastError } from '../../lib/errors.ts'
import { loadStack } from '../load-stack.ts'
import type { Stack } from '../stack.ts'

export interface World {
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly kept?: Readonly<Record<string, string>>
}

export async function load(text: string, { files = {}, env = {}, kept = {} }: World = {}): Promise<Stack> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-stack-'))
  try {
    for (const [name, content] of Object.entries({ ...files, 'stack.yaml': text })) {
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      writeFileSync(join(directory, name), content)
    }
    return await loadStack({ file: join(directory, 'stack.yaml'), env, kept: async () => kept })
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    throw new HoldfastError('StackInvalid', error.message.replaceAll(`${directory}/`, ''), { cause: error })
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** The lines of the refusal, without `Cannot load stack.yaml:`. */
export async function problems(text: string, world: World = {}): Promise<string[]> {
  try {
    await load(text, world)
  } catch (error) {
    if (error instanceof HoldfastError)
      return error.message.split('\n').map((line) => line.replace('Cannot load stack.yaml:', ''))
    throw error
  }
  throw new Error('the stack file was accepted')
}
