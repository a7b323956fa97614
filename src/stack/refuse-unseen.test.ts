import { describe, expect, test } from 'vitest'
import { machine } from '../../test/support/local-stack.ts'
import { HARDWARE } from '../../test/support/machine-spec.ts'
import { HoldfastError } from '../lib/errors.ts'
import type { ExistingMachine } from '../targets/target.ts'
import { refuseUnseen } from './refuse-unseen.ts'

describe('a machine that may still run on a hypervisor that does not answer', () => {
  const gone = 'qemu+ssh://gone/system'
  const unread = [{ where: gone, error: new HoldfastError('HypervisorUnreachable', 'no answer') }]
  const machines = [{ ...machine('a', []), hardware: HARDWARE }]

  test('is not made elsewhere', () => {
    expect(() => refuseUnseen(machines, new Map(), { homes: { a: gone }, unread })).toThrow(
      expect.objectContaining({
        code: 'MachineUnseen',
        message: `Cannot make "a" on qemu:///system: it was on ${gone}, which does not answer, and may still run there`,
        hint: expect.stringContaining(`"--without ${gone}" goes on`),
      }),
    )
  })

  test("is in nobody else's way", () => {
    expect(() => refuseUnseen(machines, new Map(), { homes: { b: gone }, unread })).not.toThrow()
    expect(() => refuseUnseen(machines, new Map(), { homes: { a: gone }, unread: [] })).not.toThrow()
    const there = new Map([['a', {} as ExistingMachine]])
    expect(() => refuseUnseen(machines, there, { homes: { a: gone }, unread })).not.toThrow()
  })
})
