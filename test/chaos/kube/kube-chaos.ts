// npm run chaos:kube -- [--minutes M] [--seed S] [--event NAME]…
//
// Events drawn at random for that long, or the given ones in turn. The seed decides what is written and done, and how
// ownership is kept; when it happens also depends on the machine.

import process from 'node:process'
import { parseArgs } from 'node:util'
import { runCampaign } from './campaign.ts'
import { EVENTS, type EventName } from './events.ts'
import { INTERVAL_SECONDS } from './stage.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    event: { type: 'string', multiple: true, default: [] },
  },
})

const [minutes, seed] = [values.minutes, values.seed].map(Number)
const isEvent = (name: string): name is EventName => name in EVENTS
const order = values.event.filter(isEvent)
if ([minutes, seed].some(Number.isNaN) || order.length < values.event.length) {
  say('usage: npm run chaos:kube -- [--minutes M] [--seed S] [--event NAME]…')
  say(`events: ${Object.keys(EVENTS).join(' · ')}`)
  process.exit(2)
}

say(`seed ${seed}`)
const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort())
const { summary, violations, kept } = await runCampaign({
  ...{ seed, seconds: minutes * 60, say, signal: interruption.signal, pauseMs: [500, 5000] },
  ...{ ownership: seed % 2 === 0 ? 'txt' : 'value', stillMs: INTERVAL_SECONDS * 1000 + 1000 },
  ...(order.length > 0 && { order }),
})
say(`\n${summary.join('\n')}`)
if (violations.length > 0) {
  const again = [`--minutes ${minutes} --seed ${seed}`, ...order.map((event) => `--event '${event}'`)].join(' ')
  say(`\n${violations.join('\n\n')}`)
  say(`\nlogs: ${kept}\nrun again: npm run chaos:kube -- ${again}`)
  process.exitCode = 1
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
