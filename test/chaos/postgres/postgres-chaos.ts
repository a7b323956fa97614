// npm run chaos:postgres -- [--seconds N] [--seed S] [--fault NAME]…
//
// Faults for that long, all of them before any comes again; or the given ones in turn. The seed decides what is done to
// whom and when; what that meets also depends on the machine. Ends with 1 when something was lost or did not come back.

import process from 'node:process'
import { parseArgs } from 'node:util'
import { RECOVERY_LIMIT_MS, runCampaign } from './campaign.ts'
import { FAULTS, type FaultName } from './faults.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    fault: { type: 'string', multiple: true, default: [] },
  },
})

const [seconds, seed] = [values.seconds, values.seed].map(Number)
const isFault = (name: string): name is FaultName => name in FAULTS
const order = values.fault.filter(isFault)
if ([seconds, seed].some(Number.isNaN) || order.length < values.fault.length) {
  say('usage: npm run chaos:postgres -- [--seconds N] [--seed S] [--fault NAME]…')
  say(`faults: ${Object.keys(FAULTS).join(' · ')}`)
  process.exit(2)
}

say(`seed ${seed}; every member has to be back within ${RECOVERY_LIMIT_MS / 1000} s of the last fault, without help`)
const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort())
const { summary, violations, kept } = await runCampaign({ seed, seconds, order, say, signal: interruption.signal })
say(`\n${summary.join('\n')}`)
if (violations.length > 0) {
  const again = [`--seconds ${seconds} --seed ${seed}`, ...order.map((fault) => `--fault '${fault}'`)].join(' ')
  say(`\n${violations.join('\n\n')}`)
  say(`\nlogs: ${kept}\nrun again: npm run chaos:postgres -- ${again}`)
  process.exitCode = 1
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
