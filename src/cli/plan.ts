// `holdfast plan`: what `up` would do, and why. Nothing is touched.

import { isEmpty } from '../stack/plan.ts'
import { hasColour } from './colour.ts'
import { command, EXIT } from './command.ts'
import { widthOf } from './live-area.ts'
import { formatPlan } from './plan-text.ts'
import { openStack, stackOptions, withoutOption } from './stack-choice.ts'

export const planCommand = command({
  name: 'plan',
  summary: 'Show what "up" would change, and why; exit code 4 when there is something',
  usage: '[FILE] [--verbose] [--json]',
  positionals: ['[FILE]'],
  options: {
    ...stackOptions,
    ...withoutOption,
    verbose: { summary: 'whole files and every detail' },
    json: { summary: 'print the plan as JSON' },
  },
  async run(args, io) {
    const operator = await openStack(args, io, { without: args.options.without })
    const plan = await operator.plan()
    const { verbose, json } = args.options
    const colour = hasColour(io, io.stdout)
    io.stdout.write(
      json
        ? `${JSON.stringify(plan, undefined, 2)}\n`
        : formatPlan(plan, { colour, verbose, width: widthOf(io.stdout) }),
    )
    return isEmpty(plan) ? EXIT.done : EXIT.changes
  },
})
