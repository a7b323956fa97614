// `holdfast render`: the machines of a stack as files, for review. Secrets are not among them.

import { writeMachines } from '../targets/render/render.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { openStack, stackOptions } from './stack-choice.ts'

export const renderCommand = command({
  name: 'render',
  summary: 'Write the files of all machines to a directory, for review',
  usage: 'DIR [FILE]',
  positionals: ['DIR', '[FILE]'],
  options: stackOptions,
  async run({ positionals: [directory, ...file], options }, io) {
    const operator = await openStack({ positionals: file, options }, io)
    const machines = await operator.machines()
    await writeMachines(machines, directory, await operator.place.describe(machines))
    io.stdout.write(`${machines.length} machines of ${operator.stack.name} written to ${directory}\n`)
    return EXIT.done
  },
})
