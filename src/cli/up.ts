// `holdfast up`: creates a stack, or updates it. It shows the plan, asks for confirmation, shows the progress, and at the end
// the status. The stack runs on its own: leaving the view at the end stops nothing.

import { setTimeout as sleep } from 'node:timers/promises'
import { HoldfastError } from '../lib/errors.ts'
import { interrupted } from '../stack/apply/work.ts'
import type { Operator } from '../stack/operator.ts'
import { isEmpty, type Plan } from '../stack/plan.ts'
import { PlanChangedError } from '../stack/plan-changed.ts'
import type { StackStatus } from '../stack/status.ts'
import { isProblem } from '../targets/finding.ts'
import { confirm } from './ask.ts'
import { hasColour } from './colour.ts'
import { command, type Io } from './command.ts'
import { EXIT } from './exit-code.ts'
import { widthOf } from './live-area.ts'
import { watchStatus } from './live-status.ts'
import { formatPlan } from './plan-text.ts'
import { ProgressView } from './progress-view.ts'
import { openStack, stackOptions, withoutOption } from './stack-choice.ts'
import { formatStackStatus } from './stack-status-table.ts'

const DEFAULT_TIMEOUT_SECONDS = 120
const SETTLE_MS = 60_000
const SETTLE_LOOK_MS = 300
const STATUS_MS = 20_000

export const upCommand = command({
  name: 'up',
  summary: 'Create or update a stack; shows the plan and asks first',
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
  /** The plan that the user has confirmed. */
  readonly confirmed?: Plan | undefined
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
  const plan = await operator.plan(signal)
  const colour = hasColour(io, io.stdout)
  const show = (each: Plan) => {
    if (!json) io.stdout.write(formatPlan(each, { colour, width: widthOf(io.stdout) }))
  }
  show(plan)
  if (!isEmpty(plan) && !yes && !(await confirm(io, `Apply these changes to ${operator.stack.name}?`)))
    return EXIT.failed
  try {
    await bringUp(operator, plan, { ...options, confirmed: yes ? undefined : plan })
  } catch (error) {
    if (error instanceof PlanChangedError) show(error.plan)
    throw error
  }
  const status = await settledStatus(operator, signal)
  warnIfDegraded(status, { io, json })
  if (json) io.stdout.write(`${JSON.stringify(status, undefined, 2)}\n`)
  else if (detach)
    io.stdout.write(formatStackStatus(status, { colour, now: Date.now(), width: widthOf(io.stdout), examples: true }))
  else {
    const { name } = operator.stack
    io.stderr.write(
      `holdfast: watching ${name}; press Ctrl-C to stop watching, ${name} keeps running (--detach skips this)\n`,
    )
    await watchStatus(operator, io, signal, { examples: true })
  }
  return exitCodeFor(status)
}

/** Right after a reload something may blink: a proxy looks for its servers again. */
export async function settledStatus(
  operator: Pick<Operator, 'status'>,
  signal: AbortSignal,
  timeoutMs = SETTLE_MS,
): Promise<StackStatus> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const status = await operator.status(signal)
    if (isSettled(status) || performance.now() > deadline) return status
    await sleep(SETTLE_LOOK_MS, undefined, { signal })
  }
}

/** Ready; or every cluster is, and what is wrong does not pass by waiting, such as a disk that is nearly full. */
function isSettled(status: StackStatus): boolean {
  const isUp = exitCodeFor(status) === EXIT.done
  return status.isReady || (isUp && status.clusters.every((cluster) => cluster.state === 'ready'))
}

/** A stack that works is up even if something is wrong with it; but a supervisor has to run, and all of it has to be known. */
export function exitCodeFor(status: Pick<StackStatus, 'state' | 'isSupervised' | 'unreadHypervisors'>): number {
  const { isSupervised, unreadHypervisors } = status
  return isWorking(status) && isSupervised && unreadHypervisors.length === 0 ? EXIT.done : EXIT.failed
}

function isWorking({ state }: Pick<StackStatus, 'state'>): boolean {
  return state === 'ready' || state === 'degraded'
}

/** With `json` the status on stdout has the reasons, and stderr only errors as JSON. */
export function warnIfDegraded(status: StackStatus, { io, json }: { io: Pick<Io, 'stderr'>; json: boolean }): void {
  const { stack, state, problems, machines } = status
  if (state !== 'degraded' || json) return
  const own = machines.flatMap(({ machine, problem }) =>
    problem === undefined || problems.some((each) => each.includes(problem)) ? [] : [`${machine}: ${problem}`],
  )
  io.stderr.write(`holdfast: ${stack} works, but is degraded: ${[...problems, ...own].join('; ')}\n`)
}

async function bringUp(operator: Operator, plan: Plan, context: UpContext): Promise<void> {
  const { io, signal, timeoutMs, adopt, confirmed } = context
  const machines = plan.machines.filter(({ action }) => action !== 'none').map(({ machine }) => machine)
  using view = new ProgressView(io, io.stderr, { machines, signal })
  try {
    await operator.up({ progress: view.report, signal, timeoutMs, adopt, confirmed })
    view.report({ machine: undefined, state: 'ready', message: `${operator.stack.name} is ready` })
  } catch (error) {
    view.report({ machine: undefined, state: 'failed', message: await failureText(operator, plan, error, signal) })
    throw error
  }
}

const BEFORE_CHANGES: readonly string[] = ['ParameterInvalid', 'StackChanged', 'StackLocked']

/** Whether the error comes before anything of the running stack is changed. */
export function isBeforeChanges(error: unknown): boolean {
  return error instanceof PlanChangedError || (error instanceof HoldfastError && BEFORE_CHANGES.includes(error.code))
}

/** What a failure means for the stack: one that was there before may still run as it did. */
async function failureText(operator: Operator, plan: Plan, error: unknown, signal: AbortSignal): Promise<string> {
  const { name } = operator.stack
  const isNew = plan.machines.every(({ action }) => action === 'create')
  if (signal.aborted) return isNew ? `interrupted; ${name} is not ready` : `interrupted; change to ${name} not complete`
  if (isNew) return `${name} is not ready`
  const status = await operator.status(AbortSignal.timeout(STATUS_MS)).catch(() => undefined)
  if (status === undefined || !isWorking(status)) return `change not complete; ${name} is not ready`
  return isBeforeChanges(error)
    ? `change not applied; ${name} keeps running as before`
    : `change not complete; ${name} keeps running`
}

interface HostChecks extends Pick<Operator, 'checkHost' | 'refuseLocked'> {
  readonly stack: Pick<Operator['stack'], 'name' | 'file'>
}

/** Reported before anything is changed. */
export async function refuseBadHost(operator: HostChecks, io: Pick<Io, 'stderr'>, signal: AbortSignal): Promise<void> {
  let findings = await operator.checkHost(signal)
  if (findings.some(isProblem)) {
    // What another command is starting at this moment may look like processes of others.
    await operator.refuseLocked()
    findings = await operator.checkHost(signal)
  }
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
    `Cannot wait "${text}" seconds: not a number of seconds; expected 1 to 86400 after --timeout`,
  )
}
