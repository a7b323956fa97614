// `holdfast image build`: a disk that machines boot from, with all in it that they need. What it does is told line by line
// on stderr; where the image is, on stdout.

import { readFileSync } from 'node:fs'
import { buildImage, type BuiltImage } from '../image/build-image.ts'
import { IMAGE_FORMATS, type Place } from '../image/image.ts'
import { type PackageList, parsePackageList } from '../image/package-list.ts'
import { HoldfastError, reasonOf } from '../lib/errors.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { formatElapsed } from './duration.ts'
import { IMAGE_OPTIONS, openImageStore } from './image-store.ts'
import { formatBytes } from './image-table.ts'

export const imageBuildCommand = command({
  name: 'image build',
  summary: 'Build a disk image that boots without a network',
  usage: '[--format qcow2|tar|directory] [--output PATH] [--from-list FILE] [--json]',
  options: {
    format: {
      value: 'FORMAT',
      summary: 'qcow2 (default), or the root file system as tar or directory, for containers',
    },
    output: { value: 'PATH', summary: 'also put it there, with PATH.json, its list of packages, beside it' },
    'from-list': { value: 'FILE', summary: 'take the packages, in the versions, of the .json beside an image' },
    packages: { value: 'NAMES', summary: 'more packages, separated by commas', repeat: true },
    plain: { summary: 'the system and cloud-init alone: no services, and nothing of ours' },
    'without-program': { summary: 'leave our own program out; machines that need it get it from a volume' },
    json: { summary: 'print what was built as JSON' },
    ...IMAGE_OPTIONS,
  },
  async run({ options }, io) {
    const startMs = Date.now()
    const built = await buildImage(
      {
        ...readPlace(options),
        list: readList(options['from-list']),
        plain: options.plain,
        morePackages: options.packages.flatMap((names) => names.split(',')).filter((name) => name !== ''),
        withProgram: !options.plain && !options['without-program'],
      },
      {
        store: openImageStore(options.store, io.env, process.geteuid?.() === 0),
        env: io.env,
        signal: io.stopSignal(),
        onProgress: (step) => io.stderr.write(`${formatElapsed(Date.now() - startMs).padStart(8)}  ${step}\n`),
      },
    )
    io.stdout.write(options.json ? `${JSON.stringify({ path: built.path, ...built.image })}\n` : describe(built))
    return EXIT.done
  },
})

const STATES: Readonly<Record<BuiltImage['state'], string>> = {
  built: 'is built',
  known: 'was built before',
  'in place': 'is there already',
}

function describe({ image, path, state }: BuiltImage): string {
  const { name, hash, packages, sizeBytes } = image
  return `${name} ${hash} ${STATES[state]}: ${Object.keys(packages).length} packages, ${formatBytes(sizeBytes)}\n${path}\n`
}

/** Only disks have a place of their own. */
function readPlace({ format: given = 'qcow2', output }: PlaceOptions): Place {
  const format = IMAGE_FORMATS.find((each) => each === given)
  if (format === undefined)
    throw new HoldfastError('Usage', `Cannot build a "${given}": ${IMAGE_FORMATS.join(', ')} are the formats`)
  if (format !== 'qcow2' && output === undefined)
    throw new HoldfastError('Usage', `Cannot build a ${format}: no place for it is given; expected --output`)
  return { format, output }
}

interface PlaceOptions {
  readonly format: string | undefined
  readonly output: string | undefined
}

function readList(file: string | undefined): PackageList | undefined {
  if (file === undefined) return undefined
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new HoldfastError('FileUnreadable', `Cannot read "${file}": ${reasonOf(error)}`, { cause: error })
  }
  return parsePackageList(text, file)
}
