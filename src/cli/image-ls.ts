// `holdfast image ls`: the images that were built and are kept.

import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { IMAGE_OPTIONS, openImageStore } from './image-store.ts'
import { formatImages } from './image-table.ts'

export const imageLsCommand = command({
  name: 'image ls',
  summary: 'List the images that were built',
  usage: '[--json]',
  options: { json: { summary: 'print one JSON object for each image' }, ...IMAGE_OPTIONS },
  async run({ options }, io) {
    const store = openImageStore(options.store, io.env, process.geteuid?.() === 0)
    const images = store.list()
    if (options.json)
      for (const image of images) io.stdout.write(`${JSON.stringify({ path: store.pathOf(image.hash), ...image })}\n`)
    else io.stdout.write(formatImages(images, Date.now()))
    return EXIT.done
  },
})
