// npm run chaos:stack -- [--seconds N] [--seed S] [--event NAME]…
//
// Every event once and then any, for that long; or the given ones in turn. The seed decides what is done to whom and
// when; what that meets also depends on the machine.

import process from 'node:process'
import { parseArgs } from 'node:util'
import { runCampaign } from './campaign.ts'
import { EVENTS, type EventName } from './events.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    event: { type: 'string', multiple: true, default: [] },
  },
})

const [seconds, seed] = [values.seconds, values.seed].map(Number)
const isEvent = (name: string): name is EventName => name in EVENTS
const order = values.event.filter(isEvent)
if ([seconds, seed].some(Number.isNaN) || order.length < values.event.length) {
  say('usage: npm run chaos:stack -- [--seconds N] [--seed S] [--event NAME]…')
  say(`events: ${Object.keys(EVENTS).join(' · ')}`)
  process.exit(2)
}

say(`seed ${seed}`)
const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort())
const { summary, violations, kept } = await runCampaign({ seed, seconds, order, say, signal: interruption.signal })
say(`\n${summary.join('\n')}`)
if (violations.length > 0) {
  const again = [`--seconds ${seconds} --seed ${seed}`, ...order.map((event) => `--event '${event}'`)].join(' ')
  say(`\n${violations.join('\n\n')}`)
  say(`\nlogs: ${kept}\nrun again: npm run chaos:stack -- ${again}`)
  process.exitCode = 1
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
