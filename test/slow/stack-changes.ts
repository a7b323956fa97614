// A whole lab that is changed again and again while writers go on: what needs a restart goes one member at a time, members
// come and go, passwords and authorities change, and whatever is cut short is gone on with. Minutes, so not in npm test.
//
//   npm run test:stack

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { opensslAuthority, RSA_2048 } from '../support/openssl.ts'
import { DNS_PORT, StackLab } from '../support/stack-lab.ts'
import { StackWriters } from './stack-writers.ts'

const NETWORK = '127.248'
const NAMES = [1, 2, 3]

interface Parts {
  readonly etcd: string
  readonly postgres: string
  readonly more: string
}

const LAB: Parts = { etcd: 'members: 3', postgres: 'members: 3', more: '' }

function fileOf({ etcd, postgres, more }: Parts): string {
  return `domain: lab.test
network: ${NETWORK}.0.0/16
etcd: { ${etcd} }
dns: { servers: 2, zones: ./zones, port: ${DNS_PORT} }
postgres: { ${postgres}, haproxy: true }
${more}`
}

/** Processes that are others than before, or that there were none of. */
async function restarted(lab: StackLab, work: () => Promise<unknown>): Promise<string[]> {
  const before = await lab.pids()
  await work()
  const after = await lab.pids()
  return Object.keys(after)
    .filter((name) => before[name] !== after[name])
    .toSorted()
}

async function changes(lab: StackLab): Promise<void> {
  const up = async (parts: Partial<Parts>) => {
    lab.file(fileOf({ ...LAB, ...parts }))
    const names = await restarted(lab, () => lab.up('--timeout', '240'))
    assert.equal((await lab.run('plan')).code, 0, 'a plan after "up" has nothing to do')
    return names
  }

  await step('a parameter that PostgreSQL has to be started for restarts it, and nothing else', async () => {
    const names = await up({ postgres: 'members: 3, params: { max_connections: 150 }' })
    assert.deepEqual(
      names,
      NAMES.map((i) => `postgres-${i}/postgres`),
    )
    assert.equal(await lab.sql('show max_connections'), '150')
  })
  await step('a smaller limit of connections, too', async () => {
    const names = await up({ postgres: 'members: 3, params: { max_connections: 120 }' })
    assert.deepEqual(
      names,
      NAMES.map((i) => `postgres-${i}/postgres`),
    )
    for (const i of NAMES)
      assert.equal(await lab.sql('show max_connections', { PGHOSTADDR: `${NETWORK}.30.${i}` }), '120')
  })
  await step('a setting of etcd restarts its members, and nothing else', async () => {
    const names = await up({ etcd: 'members: 3, space_quota: 1073741824' })
    const members = names.filter((name) => !/^postgres-\d\/postgres$/u.test(name))
    assert.deepEqual(
      members,
      NAMES.map((i) => `etcd-${i}/etcd`),
    )
  })
  await step('passwords of the superuser, of replication and of root change, and are in use', async () => {
    lab.write('replicator', 'for replication')
    await up({
      etcd: 'members: 3, authentication_bootstrap: { root_password: for-root }',
      postgres: 'members: 3, superuser_password: for people, replicator_password: { file: replicator }',
    })
    assert.equal(await lab.sql('select 1', { PGPASSFILE: '/dev/null', PGPASSWORD: 'for people' }), '1')
    assert.match((await lab.etcdctl('root', 'user', 'list')).stdout, /^root$/mu)
    assert.equal(lab.secret('etcd-root-password'), 'for-root')
  })
  await step('an authority of the user takes over from the one of the stack', async () => {
    await opensslAuthority(lab.directory, 'mine', { key: RSA_2048 })
    await up({ more: 'ca: { certificate: { file: mine.pem }, key: { file: mine.key } }' })
    const mine = readFileSync(join(lab.directory, 'mine.pem'), 'utf8')
    for (const i of NAMES) {
      const { stdout } = await lab.sh(`openssl s_client -starttls postgres -connect ${NETWORK}.30.${i}:5432 </dev/null`)
      assert.match(stdout, /issuer=CN = mine/u)
    }
    assert.ok(readFileSync(lab.path('client/ca.pem'), 'utf8').includes(mine))
  })
  const authority = { more: 'ca: { certificate: { file: mine.pem }, key: { file: mine.key } }' }

  await step('two members of etcd come, and two go', async () => {
    assert.deepEqual(await up({ ...authority, etcd: 'members: 5' }), ['etcd-4/etcd', 'etcd-5/etcd'])
    assert.equal(await countMembers(lab), 5)
    assert.deepEqual(
      await up({ ...authority, etcd: 'members: [{ name: etcd-2 }, { name: etcd-3 }, { name: etcd-5 }]' }),
      [],
    )
    assert.equal(await countMembers(lab), 3)
  })
  const etcd = 'members: [{ name: etcd-2 }, { name: etcd-3 }, { name: etcd-5 }]'

  await step('a PostgreSQL member comes, and the primary goes', async () => {
    await up({ ...authority, etcd, postgres: 'members: 4' })
    const { machine } = await lab.machine('primary')
    const staying = [1, 2, 3, 4].map((i) => `postgres-${i}`).filter((name) => name !== machine)
    await up({ ...authority, etcd, postgres: `members: [${staying.map((name) => `{ name: ${name} }`).join(', ')}]` })
    assert.notEqual((await lab.machine('primary')).machine, machine)
    assert.equal((await lab.status()).machines.filter(({ kind }) => kind === 'postgres').length, 3)
  })
  await step('a machine under another name is another machine', async () => {
    const { machines } = await lab.status()
    const members = machines.filter(({ kind }) => kind === 'postgres').map(({ machine }) => machine)
    const renamed = [...members.slice(0, 2), 'renamed'].map((name) => `{ name: ${name} }`)
    await up({ ...authority, etcd, postgres: `members: [${renamed.join(', ')}]` })
    assert.deepEqual(await lab.dig(`${NETWORK}.20.1`, `${members[2]}.lab.test`), [''])
    assert.equal((await lab.dig(`${NETWORK}.20.1`, 'renamed.lab.test')).length, 1)
  })
}

async function comings(lab: StackLab): Promise<void> {
  await step('"down --keep-data", and then "up": the data is still there', async () => {
    await lab.sql('create table kept as select 42 as answer')
    await lab.done('down', '--keep-data', '--yes')
    assert.deepEqual(lab.processes(), [])
    await lab.up()
    assert.equal(await lab.sql('select answer from kept'), '42')
  })
}

/** The first `up` of a whole lab, killed at moments of chance; the next one brings it up. */
async function killed(): Promise<void> {
  for (let round = 1; round <= 3; round++) {
    const momentMs = randomInt(500, 16_000)
    await step(`"up" is killed after ${momentMs} ms of its first run, and gone on with`, async () => {
      const lab = new StackLab('stack-killed', fileOf(LAB))
      try {
        const first = lab.spawn('up', '--yes', '--detach')
        await sleep(momentMs)
        await first.end()
        assert.equal((await lab.up()).isReady, true)
        assert.equal((await lab.run('plan')).code, 0)
        assert.equal(await lab.sql('select 1'), '1')
      } finally {
        await lab.close()
      }
    })
  }
}

async function countMembers(lab: StackLab): Promise<number> {
  const { stdout } = await lab.etcdctl('root', 'member', 'list')
  return stdout.trim().split('\n').length
}

async function step(sentence: string, work: () => Promise<void>): Promise<void> {
  const start = performance.now()
  await work()
  console.log(`${((performance.now() - start) / 1000).toFixed(1).padStart(7)} s  ${sentence}`)
}

const lab = new StackLab('stack-changes', fileOf(LAB))
try {
  await step('a lab is brought up', async () => assert.equal((await lab.up()).isReady, true))
  const writers = await StackWriters.start(lab)
  await changes(lab)
  const { written, lost } = await writers.stop()
  assert.deepEqual(lost, { etcd: [], postgres: [] }, 'what was acknowledged is there')
  console.log(
    `           acknowledged meanwhile: ${written.etcd} writes by etcd, ${written.postgres} by PostgreSQL; lost: 0`,
  )
  await comings(lab)
} finally {
  await lab.close()
}
await killed()
