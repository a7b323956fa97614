// `holdfast supervise`: keeps the processes of a stack running. Started by `up`, not by people.

import { startSupervisor } from '../targets/local/supervisor-control.ts'
import { supervise } from '../targets/local/supervisor/supervise.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'

export const superviseCommand = command({
  name: 'supervise',
  isServer: true,
  summary: 'Keep the processes of a stack running (internal)',
  usage: '[--detach] DIRECTORY',
  options: { detach: { summary: 'start it in the background, as at the start of the host' } },
  positionals: ['DIRECTORY'],
  async run({ positionals: [directory], options }, io) {
    if (options.detach) {
      startSupervisor(directory)
      return EXIT.done
    }
    await supervise(directory, {
      signal: io.stopSignal(),
      log: (message) => io.stdout.write(`${new Date().toISOString()} ${message}\n`),
    })
    return EXIT.done
  },
})
