import { describe, expect, test } from 'vitest'
import { etcdSpec } from '../../../test/support/etcd-machines.ts'
import type { Member, Status } from '../../etcd/client.ts'
import { HoldfastError } from '../../lib/errors.ts'
import type { MemberStatus } from '../member-status.ts'
import { canRestart, etcdStatus } from './status.ts'

function cluster(...roles: readonly ('leader' | 'follower' | 'learner' | 'down')[]) {
  const members = roles.map((role, index): MemberStatus => {
    const isReady = role === 'leader' || role === 'follower'
    const known = { role: role === 'down' ? undefined : role, version: undefined, lagBytes: undefined }
    return { machine: `etcd-${index + 1}`, isReady, ...known, problem: isReady ? undefined : 'not reachable' }
  })
  return { members, isReady: true, isWorking: true, problem: undefined }
}

describe('a member may be restarted', () => {
  test('when the others have quorum', () => {
    expect(canRestart(cluster('leader', 'follower', 'follower'), 'etcd-1')).toBe(true)
    expect(canRestart(cluster('leader', 'follower', 'follower', 'follower', 'down'), 'etcd-2')).toBe(true)
  })

  test('not when they would lose it', () => {
    expect(canRestart(cluster('leader', 'follower', 'down'), 'etcd-2')).toBe(false)
    expect(canRestart(cluster('leader', 'follower', 'follower', 'down'), 'etcd-1')).toBe(false)
  })

  test('when it does nothing for quorum anyway', () => {
    expect(canRestart(cluster('leader', 'follower', 'down'), 'etcd-3')).toBe(true)
    expect(canRestart(cluster('leader', 'follower', 'follower', 'learner'), 'etcd-4')).toBe(true)
  })

  test('without counting learners, which have no vote', () => {
    expect(canRestart(cluster('leader', 'follower', 'down', 'learner'), 'etcd-1')).toBe(false)
  })

  test('when there are so few that each is needed, as long as the other is up', () => {
    expect(canRestart(cluster('leader'), 'etcd-1')).toBe(true)
    expect(canRestart(cluster('leader', 'follower'), 'etcd-2')).toBe(true)
  })
})

describe('the status of a cluster', () => {
  const spec = etcdSpec([1, 2, 3].map((n) => `10.0.0.${n}`))
  const answer = (id: number, errors: readonly string[] = []): Status => ({
    ...{ memberId: BigInt(id), leader: 1n, isLearner: false, version: '3.5.16', errors },
    ...{ clusterId: 1n, revision: 1n, dbSizeBytes: 0n, dbSizeInUseBytes: 0n },
    ...{ raftTerm: 1n, raftIndex: 1n, raftAppliedIndex: 1n },
  })
  const member = (id: bigint): Member => ({ id, name: '', peerUrls: [], clientUrls: [], isLearner: false })
  const unreachable = new HoldfastError('EtcdUnreachable', 'Cannot reach etcd at "https://10.0.0.3:2379": refused')

  async function statusOf(answers: readonly (Status | Error)[], isAuthEnabled = true) {
    const client = {
      memberList: () => Promise.resolve([1n, 2n, 3n].map(member)),
      status: (url = '') => {
        const given = answers[Number(/\.(\d):/u.exec(url)?.[1]) - 1]
        return given instanceof Error ? Promise.reject(given) : Promise.resolve(given)
      },
      isAuthEnabled: () => Promise.resolve(isAuthEnabled),
    }
    return etcdStatus(spec, client, new AbortController().signal)
  }

  test('is ready with all members', async () => {
    const status = await statusOf([answer(1), answer(2), answer(3)])
    expect(status).toMatchObject({ isReady: true, isWorking: true, problem: undefined })
  })

  test('works with a majority, and says in a few words what the others lack', async () => {
    const status = await statusOf([answer(1), answer(2), unreachable])
    expect(status).toMatchObject({ isReady: false, isWorking: true, problem: '2 of 3 members' })
    expect(status.members[2]).toMatchObject({ problem: 'not reachable', waitsFor: 'etcd to start' })
  })

  test('does not work without a majority, with an alarm, or before logins are enabled', async () => {
    expect(await statusOf([answer(1), unreachable, unreachable])).toMatchObject({ isWorking: false })
    const full = ['memberID:2 alarm:NOSPACE ']
    expect(await statusOf([answer(1, full), answer(2, full), answer(3, full)])).toMatchObject({ isWorking: false })
    expect(await statusOf([answer(1), answer(2), answer(3)], false)).toMatchObject({ isReady: false, isWorking: false })
  })

  test.each([
    ['that names no member', ['alarm:NOSPACE '], 'alarm NOSPACE', [undefined, undefined, undefined]],
    ['of a member', ['memberID:2 alarm:NOSPACE '], 'alarm NOSPACE', [undefined, 'alarm NOSPACE', undefined]],
    ['of a member that is gone', ['memberID:9 alarm:CORRUPT '], 'alarm CORRUPT', [undefined, undefined, undefined]],
    ['after other errors', ['no leader', 'alarm:CORRUPT'], 'alarm CORRUPT', [undefined, undefined, undefined]],
  ])('has an alarm %s', async (_, errors, problem, members) => {
    const status = await statusOf([answer(1, errors), answer(2, errors), answer(3, errors)])
    expect(status).toMatchObject({ isReady: false, isWorking: false, problem })
    expect(status.members.map((each) => each.problem)).toEqual(members)
  })

  test('has no path of a file in it', async () => {
    const error = new HoldfastError(
      'FileUnreadable',
      'Cannot read "/var/lib/holdfast/client/etcd-ca.pem": no such file',
    )
    expect(JSON.stringify(await statusOf([error, error, error]))).not.toContain('/var/lib')
  })
})
