// `holdfast down`: stops a stack in order. What it is made of stays, unless asked for otherwise; what would be lost is said
// before the question.

import { HoldfastError } from '../lib/errors.ts'
import { confirm } from './ask.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { downQuestion } from './down-question.ts'
import { ProgressView } from './progress-view.ts'
import { openHandle, refuseGuess, stackOptions, withoutOption } from './stack-choice.ts'

export const downCommand = command({
  name: 'down',
  summary: 'Stop a stack; --keep-data or --purge also removes it',
  usage: '[FILE] [--keep-data | --purge] [--foreign] [--yes]',
  positionals: ['[FILE]'],
  options: {
    ...stackOptions,
    ...withoutOption,
    'keep-data': { summary: 'remove the machines, but keep their data and the secrets' },
    purge: { summary: 'remove everything: machines, data, secrets, the certificate authority' },
    foreign: {
      summary:
        'machines of a stack of that name that was made from another place, too: only if it is yours and its state is lost',
    },
    yes: { summary: 'do not ask' },
  },
  async run(args, io) {
    const { 'keep-data': keepData, purge, foreign, without, yes } = args.options
    if (keepData && purge)
      throw new HoldfastError('Usage', 'Cannot run "holdfast down" with --keep-data and --purge: expected one of them')
    if (keepData || purge || foreign) refuseGuess(args.positionals[0])
    const handle = await openHandle(args, io, { takesForeign: foreign, without })
    const machines = [...(await handle.found()).keys()]
    const how = purge ? 'purge' : keepData ? 'keep-data' : 'stop'
    if (!yes && !(await confirm(io, downQuestion(handle.name, machines.length, how)))) return EXIT.failed
    using view = new ProgressView(io, io.stderr, { machines })
    await handle.down(how, view.report, yes ? undefined : machines)
    view.report({
      machine: undefined,
      state: 'ready',
      message: purge ? `${handle.name} is gone` : `${handle.name} is stopped`,
    })
    return EXIT.done
  },
})
