// npm run chaos -- [--seconds N] [--seed S] [--event NAME]… [--outage SECONDS]
//
// Events drawn at random for that long, or the given ones in turn. The seed decides what is written, asked and done; when
// it happens also depends on the machine.

import process from 'node:process'
import { parseArgs } from 'node:util'
import { runCampaign } from './campaign.ts'
import { EVENTS, type EventName } from './events.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    event: { type: 'string', multiple: true, default: [] },
    outage: { type: 'string', default: '30' },
  },
})

const [seconds, seed, outage] = [values.seconds, values.seed, values.outage].map(Number)
const isEvent = (name: string): name is EventName => name in EVENTS
const order = values.event.filter(isEvent)
if ([seconds, seed, outage].some(Number.isNaN) || order.length < values.event.length) {
  say('usage: npm run chaos -- [--seconds N] [--seed S] [--event NAME]… [--outage SECONDS]')
  say(`events: ${Object.keys(EVENTS).join(' · ')}`)
  process.exit(2)
}

say(`seed ${seed}`)
const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort())
const { summary, violations, kept } = await runCampaign({
  ...{ signal: interruption.signal, seed, seconds, outageMs: outage * 1000, pauseMs: [500, 4000], say },
  ...(order.length > 0 && { order }),
})
say(`\n${summary.join('\n')}`)
if (violations.length > 0) {
  say(`\n${violations.join('\n\n')}`)
  say(`\nlogs: ${kept}\nrun again: npm run chaos -- --seconds ${seconds} --seed ${seed}`)
  process.exitCode = 1
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
