import { expect, test } from 'vitest'
import { Control, isEarlier } from './epoch.ts'

test('epochs go round: what a reader may still see is kept, and later epochs are later', () => {
  const control = Control.create(1)
  const words = new Int32Array(control.buffer)
  for (const last of [2 ** 31 - 1, -1]) {
    words[0] = last
    control.enter(0)
    const retired = [control.advance(), control.advance()]
    expect(control.oldestInUse()).toBe(last)
    for (const epoch of retired) expect(isEarlier(last, epoch)).toBe(true)
    control.enter(0)
    for (const epoch of retired) expect(isEarlier(control.oldestInUse(), epoch)).toBe(false)
    expect(retired).not.toContain(0)
    control.leave(0)
  }
})
