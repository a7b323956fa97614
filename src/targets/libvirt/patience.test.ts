import { expect, test, vi } from 'vitest'
import { HoldfastError } from '../../lib/errors.ts'
import { Patience } from './patience.ts'

const lost = () => Promise.reject(new HoldfastError('HypervisorUnreachable', 'away'))

test('a hypervisor that is away is borne with for a while, which begins anew when it has answered', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  const patience = new Patience()
  expect(await patience.bear(lost, 'none')).toBe('none')
  now.mockReturnValue(15_000)
  expect(await patience.bear(lost, 'none')).toBe('none')
  expect(await patience.bear(async () => 'there', 'none')).toBe('there')
  now.mockReturnValue(30_000)
  expect(await patience.bear(lost, 'none')).toBe('none')
  now.mockReturnValue(51_000)
  await expect(patience.bear(lost, 'none')).rejects.toThrow('away')
  now.mockRestore()
})

test('anything else is told at once', async () => {
  const silent = () => Promise.reject(new HoldfastError('GuestSilent', 'silent'))
  await expect(new Patience().bear(silent, 'none')).rejects.toThrow('silent')
})
