// A first run that is cut short at some moment: the next one continues where it stopped.

import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loopbackNetwork } from '../support/loopback.ts'
import { DNS_PORT, StackLab } from '../support/stack-lab.ts'

const MOMENT_MS = randomInt(100, 2500)

let lab: StackLab

describe('a first run that is cut short', () => {
  const FILE = `domain: lab.test\nnetwork: ${loopbackNetwork()}.0.0/16\netcd: { members: 3 }\ndns: { servers: 2, zones: ./zones, port: ${DNS_PORT} }`
  beforeEach(() => {
    lab = new StackLab('cut-short', FILE)
  })
  afterEach(() => lab.close())

  test.each([
    ['while etcd starts', /etcd-1: starting/u],
    ['while name servers start', /dns-1: starting/u],
    [`at any moment (after ${MOMENT_MS} ms)`, MOMENT_MS],
  ])(
    'by kill -9 %s is gone on with by the next one',
    async (_, moment) => {
      const up = lab.spawn('up', '--yes', '--detach')
      await (typeof moment === 'number' ? sleep(moment) : up.logged(moment))
      await up.end()
      expect(await lab.up()).toMatchObject({ isReady: true })
      expect((await lab.run('plan')).code).toBe(0)
    },
    180_000,
  )

  test.each([
    ['after the plan', /^Plan for/mu],
    ['while etcd starts', /etcd-1: starting/u],
    ['while name servers start', /dns-1: starting/u],
  ])('by Ctrl-C %s says so', async (_, moment) => {
    const up = lab.spawn('up', '--yes', '--detach')
    await up.logged(moment)
    up.kill('SIGINT')
    expect(await up.ended()).toBe(130)
    expect(up.output).toContain(
      'holdfast: Cannot continue: interrupted; what was done so far stays, and "up" continues from there [Interrupted]\n',
    )
  })
})
