// `holdfast image rm`: removes images from where builds keep them.

import { withLock } from '../image/lock.ts'
import { HoldfastError } from '../lib/errors.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { IMAGE_OPTIONS, openImageStore } from './image-store.ts'

export const imageRmCommand = command({
  name: 'image rm',
  summary: 'Remove images that were built',
  usage: 'NAME|HASH [--all] | --all',
  positionals: ['[NAME]'],
  options: {
    all: { summary: 'every image of that name; without a name, every image and all that makes builds faster' },
    ...IMAGE_OPTIONS,
  },
  async run({ positionals: [which], options }, io) {
    if (which === undefined && !options.all)
      throw new HoldfastError('Usage', 'Cannot remove an image: none is named; expected a name, a hash or --all')
    const store = openImageStore(options.store, io.env, process.geteuid?.() === 0)
    const onWait = () => io.stderr.write('waiting for a build to end\n')
    await withLock(store.directory, { signal: io.stopSignal(), onWait }, async () => {
      for (const image of which === undefined ? store.list() : store.select(which, options.all)) {
        store.remove(image)
        io.stdout.write(`${image.name} ${image.hash} removed\n`)
      }
      if (which === undefined) store.removeBases()
    })
    return EXIT.done
  },
})
