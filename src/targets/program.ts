// A copy of our own program for the services of a stack. Their users can read it wherever the original lies, and it stays
// as it is when the original is updated or removed. The same program is there once, under the hash of what it is made
// of, and whole from the moment it can be seen: it is put together under another name first.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { HoldfastError, messageOf } from '../lib/errors.ts'
import {
  codeFiles,
  type Package,
  packageFiles,
  type Program,
  runningProgram,
  runtimePackages,
} from './program-parts.ts'
import { allProcesses, programOf } from './local/supervisor/process-table.ts'

const FOLDER = 'program'
const NODE = 'node'
const UNFINISHED = '.new-'
/** Whoever has not finished after this time will not. */
const ABANDONED_MS = 3_600_000

/** The words that start the copy below `directory`, whether it is there already or not. */
export function programCommand(directory: string, program: Program = runningProgram()): readonly string[] {
  return commandOf(directory, program, readParts(program))
}

/** Puts the copy below `directory` unless it is there. The words that start it. */
export async function installProgram(
  directory: string,
  program: Program = runningProgram(),
): Promise<readonly string[]> {
  const parts = readParts(program)
  const installed = placeOf(directory, parts)
  if (existsSync(installed) && !isWhole(installed, program, parts)) rmSync(installed, { recursive: true, force: true })
  if (!existsSync(installed)) {
    try {
      install(installed, program, parts)
    } catch (thrown) {
      throw new HoldfastError('FileUnwritable', `Cannot copy the program to "${installed}": ${messageOf(thrown)}`, {
        cause: thrown,
      })
    }
  }
  return commandOf(directory, program, parts)
}

/** Removes what neither a word in `keep` (a path below it) nor a running process uses. */
export function pruneProgram(directory: string, keep: readonly string[]): void {
  const programs = join(directory, FOLDER)
  if (!existsSync(programs)) return
  const used = [...keep, ...allProcesses().flatMap(({ pid }) => programOf(pid) ?? [])]
  for (const name of readdirSync(programs)) {
    const path = join(programs, name)
    const isUsed = name.startsWith(UNFINISHED)
      ? Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < ABANDONED_MS
      : // By the name alone: symbolic links may lead to the directory, and processes do not see them.
        used.some((word) => word.includes(`/${FOLDER}/${name}/`))
    if (!isUsed) rmSync(path, { recursive: true, force: true })
  }
}

interface Parts {
  /** Our own files, by path. */
  readonly texts: ReadonlyMap<string, Uint8Array>
  readonly packages: readonly Package[]
}

function readParts(program: Program): Parts {
  const paths = ['package.json', ...codeFiles(program)]
  return {
    texts: new Map(paths.map((path) => [path, readFileSync(join(program.root, path))])),
    packages: runtimePackages(program),
  }
}

function commandOf(directory: string, { code }: Program, parts: Parts): readonly string[] {
  const installed = placeOf(directory, parts)
  return [join(installed, NODE), join(installed, code, code === 'src' ? 'main.ts' : 'main.js')]
}

function placeOf(directory: string, { texts, packages }: Parts): string {
  const hash = createHash('sha256')
  hash.update(`${process.version} ${process.arch}\n`)
  for (const { place, version } of packages) hash.update(`${place} ${version}\n`)
  for (const [path, text] of texts) hash.update(`${path} ${text.length}\n`).update(text)
  return join(directory, FOLDER, hash.digest('hex').slice(0, 16))
}

/** After a power cut files may be there and empty. */
function isWhole(installed: string, { node }: Program, { texts, packages }: Parts): boolean {
  const size = (path: string) => statSync(path, { throwIfNoEntry: false })?.size
  return (
    size(join(installed, NODE)) === size(node) &&
    packages.every(({ place }) => existsSync(join(installed, place, 'package.json'))) &&
    texts.entries().every(([path, text]) => size(join(installed, path)) === text.length)
  )
}

function install(installed: string, { node }: Program, { texts, packages }: Parts): void {
  const programs = dirname(installed)
  mkdirSync(programs, { recursive: true })
  chmodSync(programs, 0o755)
  const temporary = mkdtempSync(join(programs, UNFINISHED))
  try {
    const copy = new ReadableCopy(temporary)
    for (const [path, text] of texts) copy.write(path, text)
    for (const each of packages)
      for (const path of packageFiles(each)) copy.share(join(each.directory, path), join(each.place, path), 0o644)
    copy.share(node, NODE, 0o755)
    chmodSync(temporary, 0o755)
    putInPlace(temporary, installed)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** Another process may have been faster, with the same result. */
function putInPlace(temporary: string, installed: string): void {
  try {
    renameSync(temporary, installed)
  } catch (thrown) {
    const { code = '' } = thrown as NodeJS.ErrnoException
    if (!['ENOTEMPTY', 'EEXIST'].includes(code)) throw thrown
  }
}

/** A directory whose files everybody may read and only we may change, whatever the umask is. */
class ReadableCopy {
  readonly #root: string
  readonly #made = new Set<string>(['.'])

  constructor(root: string) {
    this.#root = root
  }

  write(path: string, text: Uint8Array): void {
    const to = this.#prepare(path)
    writeFileSync(to, text)
    chmodSync(to, 0o644)
  }

  /** One file in two places where that is safe, else a copy. */
  share(from: string, path: string, mode: number): void {
    const to = this.#prepare(path)
    if (isSafe(from, mode) && tryLink(from, to)) return
    copyFileSync(from, to, constants.COPYFILE_FICLONE)
    // Node gives the copy to the owner of the original.
    chownSync(to, process.geteuid?.() ?? 0, process.getegid?.() ?? 0)
    chmodSync(to, mode)
  }

  #prepare(path: string): string {
    this.#makeDirectory(dirname(path))
    return join(this.#root, path)
  }

  #makeDirectory(path: string): void {
    if (this.#made.has(path)) return
    this.#makeDirectory(dirname(path))
    const directory = join(this.#root, path)
    mkdirSync(directory)
    chmodSync(directory, 0o755)
    this.#made.add(path)
  }
}

/** A linked file keeps owner and mode: it must be ours, readable by all, and no one else may change it. */
function isSafe(file: string, wanted: number): boolean {
  const { uid, mode } = statSync(file)
  return uid === process.geteuid?.() && (mode & 0o022) === 0 && (mode & wanted & 0o555) === (wanted & 0o555)
}

/** Not possible between file systems, nor where the kernel protects links. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch {
    return false
  }
}
