// `holdfast supervise`: keeps the processes of a stack running. Started by `up`, not by people.

import { supervise } from '../targets/local/supervisor/supervise.ts'
import { command, EXIT } from './command.ts'

export const superviseCommand = command({
  name: 'supervise',
  summary: 'Keep the processes of a stack running (internal: "up" starts it)',
  usage: 'DIRECTORY',
  options: {},
  positionals: ['DIRECTORY'],
  async run({ positionals: [directory] }, io) {
    await supervise(directory, {
      signal: io.stopSignal(),
      log: (message) => io.stdout.write(`${new Date().toISOString()} ${message}\n`),
    })
    return EXIT.done
  },
})
