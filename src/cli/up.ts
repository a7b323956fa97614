// `holdfast up`: brings a stack up, or to its new shape. The plan is shown and asked for, the progress is shown, and at the end
// stands what runs. The stack goes on without us: leaving the view at the end stops nothing.

import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../lib/errors.ts'
import { interrupted } from '../stack/apply/work.ts'
import type { Operator } from '../stack/operator.ts'
import { isEmpty, type Plan } from '../stack/plan.ts'
import type { StackStatus } from '../stack/status.ts'
import { isProblem } from '../targets/finding.ts'
import { confirm } from './ask.ts'
import { hasColour } from './colour.ts'
import { command, EXIT, type Io } from './command.ts'
import { widthOf } from './live-area.ts'
import { watchStatus } from './live-status.ts'
import { formatPlan } from './plan-text.ts'
import { ProgressView } from './progress-view.ts'
import { openStack, stackOptions, withoutOption } from './stack-choice.ts'
import { formatStackStatus } from './stack-status-table.ts'

const DEFAULT_TIMEOUT_SECONDS = 120
const SETTLE_MS = 60_000
const SETTLE_LOOK_MS = 300

export const upCommand = command({
  name: 'up',
  summary: 'Bring a stack up, or to its new shape; shows the plan and asks first',
  usage: '[FILE] [--yes] [--detach] [--timeout SECONDS] [--json]',
  positionals: ['[FILE]'],
  options: {
    ...stackOptions,
    ...withoutOption,
    yes: { summary: 'do not ask' },
    detach: { summary: 'end when the stack is ready, instead of watching it' },
    timeout: {
      value: 'SECONDS',
      summary: `how long each cluster may take to be ready; ${DEFAULT_TIMEOUT_SECONDS} unless given`,
    },
    adopt: { summary: 'take over a stack of that name which was brought up from another file' },
    json: { summary: 'print how the stack stands at the end as JSON' },
  },
  async run(args, io) {
    const timeoutMs = parseTimeout(args.options.timeout)
    const operator = await openStack(args, io, { without: args.options.without })
    const signal = io.stopSignal()
    try {
      return await up(operator, { ...args.options, io, signal, timeoutMs })
    } catch (error) {
      // Each step has its own words for having been stopped.
      throw signal.aborted ? interrupted() : error
    }
  },
})

interface UpContext {
  readonly io: Io
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly adopt: boolean
}

interface UpFlags {
  readonly yes: boolean
  readonly detach: boolean
  readonly json: boolean
}

async function up(operator: Operator, options: UpContext & UpFlags): Promise<number> {
  const { io, signal, yes, detach, json, adopt } = options
  await operator.refuseElsewhere(adopt)
  await refuseBadHost(operator, io, signal)
  const plan = await operator.plan()
  const colour = hasColour(io, io.stdout)
  if (!json) io.stdout.write(formatPlan(plan, { colour, width: widthOf(io.stdout) }))
  if (!isEmpty(plan) && !yes && !(await confirm(io, `Bring ${operator.stack.name} up like this?`))) return EXIT.failed
  await bringUp(operator, plan, options)
  const status = await settledStatus(operator, signal)
  if (json) io.stdout.write(`${JSON.stringify(status, undefined, 2)}\n`)
  else io.stdout.write(formatStackStatus(status, { colour, now: Date.now(), examples: true }))
  if (!detach && !json) {
    io.stderr.write(
      'holdfast: watching it from here on; Ctrl-C ends that, and the stack goes on (--detach: end at once)\n',
    )
    await watchStatus(operator, io, signal)
  }
  return status.isReady ? EXIT.done : EXIT.failed
}

/** Right after a reload something may blink: a proxy looks for its servers again. */
async function settledStatus(operator: Operator, signal: AbortSignal): Promise<StackStatus> {
  const deadline = performance.now() + SETTLE_MS
  for (;;) {
    const status = await operator.status(signal)
    if (status.isReady || performance.now() > deadline) return status
    await sleep(SETTLE_LOOK_MS, undefined, { signal })
  }
}

async function bringUp(operator: Operator, plan: Plan, { io, signal, timeoutMs, adopt }: UpContext): Promise<void> {
  const machines = plan.machines.filter(({ action }) => action !== 'none').map(({ machine }) => machine)
  using view = new ProgressView(io, io.stderr, { machines, signal })
  try {
    await operator.up({ progress: view.report, signal, timeoutMs, adopt })
    view.report({ machine: undefined, state: 'ready', message: `${operator.stack.name} is ready` })
  } catch (error) {
    view.report({ machine: undefined, state: 'failed', message: `${operator.stack.name} is not ready` })
    throw error
  }
}

/** Told before anything is touched. */
async function refuseBadHost(operator: Operator, io: Io, signal: AbortSignal): Promise<void> {
  const findings = await operator.checkHost(signal)
  for (const { state, message } of findings) if (state === 'warning') io.stderr.write(`holdfast: ${message}\n`)
  const problems = findings.filter(isProblem)
  if (problems.length === 0) return
  throw new HoldfastError(
    'HostNotReady',
    problems.map(({ message }) => `Cannot bring up "${operator.stack.name}": ${message}`).join('\n'),
    {
      hint: `"holdfast doctor ${operator.stack.file}" tells what to do about it, and with --fix installs what is missing`,
    },
  )
}

function parseTimeout(text: string | undefined): number {
  const seconds = text === undefined ? DEFAULT_TIMEOUT_SECONDS : Number(text)
  if (seconds > 0 && seconds <= 86_400) return seconds * 1000
  throw new HoldfastError(
    'Usage',
    `Cannot wait "${text}" seconds: not a number of seconds; 1 to 86400 are wanted after --timeout`,
  )
}
