// The target `render`: machines as files in a directory, for people to read before anything is made. Secrets are shown as
// ***, so the directory may be sent around; nothing here is ever used to make a machine.

import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { HoldfastError, reasonOf } from '../../lib/errors.ts'
import { show } from '../../machine/content.ts'
import type { Machine } from '../../machine/machine.ts'
import { describeMachine, overview } from './describe.ts'

/** Says that the directory is ours to replace. */
const MARKER = '.holdfast-render'

/** By machine: texts that it is made from on its target, by name of the file. */
export type TargetTexts = ReadonlyMap<string, ReadonlyMap<string, string>>

/** Writes them to `directory`, in place of what an earlier call wrote there. */
export async function writeMachines(
  machines: readonly Machine[],
  directory: string,
  texts: TargetTexts = new Map(),
): Promise<void> {
  if (directory === '')
    throw new HoldfastError('DirectoryInUse', 'Cannot render to "": expected the path of a directory')
  const before = await namesIn(directory)
  if (before.length > 0 && !before.includes(MARKER))
    throw new HoldfastError(
      'DirectoryInUse',
      `Cannot render to "${directory}": it has files that "render" did not write; expected an empty directory, or one that it made`,
    )
  try {
    // The marker stays, so that what is left when this is cut short can be replaced.
    for (const name of before) if (name !== MARKER) await rm(join(directory, name), { recursive: true })
    await write(join(directory, MARKER), 'Written by "holdfast render", which replaces everything here.\n')
    await write(join(directory, 'stack.txt'), overview(machines))
    for (const machine of machines) {
      const root = join(directory, machine.name)
      await writeMachine(machine, root)
      for (const [name, text] of texts.get(machine.name) ?? []) await write(join(root, name), text)
    }
  } catch (thrown) {
    throw new HoldfastError('FileUnwritable', `Cannot write to "${directory}": ${reasonOf(thrown)}`, { cause: thrown })
  }
}

async function writeMachine(machine: Machine, root: string): Promise<void> {
  await write(join(root, 'machine.json'), `${JSON.stringify(describeMachine(machine), undefined, 2)}\n`)
  for (const { path } of machine.directories) await mkdir(join(root, path), { recursive: true })
  for (const { path, content } of machine.files) await write(join(root, path), show(content))
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new HoldfastError('FileUnreadable', `Cannot read "${directory}": ${reasonOf(thrown)}`, { cause: thrown })
  }
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
