// `holdfast plan`: what `up` would do, and why. Nothing is touched.

import { isEmpty } from '../stack/plan.ts'
import { hasColour } from './colour.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { widthOf } from './live-area.ts'
import { formatPlan } from './plan-text.ts'
import { openStack, stackOptions, withoutOption } from './stack-choice.ts'

export const planCommand = command({
  name: 'plan',
  summary: 'Preview what "up" would change; exits 4 with changes',
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
    const plan = await operator.plan(io.stopSignal())
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
