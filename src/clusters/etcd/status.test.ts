import { describe, expect, test } from 'vitest'
import type { MemberStatus } from '../member-status.ts'
import { canRestart } from './status.ts'

function cluster(...roles: readonly ('leader' | 'follower' | 'learner' | 'down')[]) {
  const members = roles.map((role, index): MemberStatus => {
    const isReady = role === 'leader' || role === 'follower'
    const known = { role: role === 'down' ? undefined : role, version: undefined, lagBytes: undefined }
    return { machine: `etcd-${index + 1}`, isReady, ...known, problem: isReady ? undefined : 'not reachable' }
  })
  return { members, isReady: true, problem: undefined }
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
