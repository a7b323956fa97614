import { expect, test } from 'vitest'
import { domain, hypervisorOf } from '../../../test/support/hypervisor-data.ts'
import { service } from '../../../test/support/local-stack.ts'
import type { DomainState, Hypervisor } from './hypervisor.ts'
import { MachineGuests } from './machine-guests.ts'
import { type PresentMachine, waitingToGoOn } from './present-machine.ts'

const guests = new MachineGuests({ onPhase: () => undefined, signal: new AbortController().signal })

function present(state: DomainState): PresentMachine {
  const disk = { path: '/images/m', format: 'qcow2', pool: 'default', isOurs: true }
  return {
    hypervisor: hypervisorOf(),
    domain: domain('s-m', state),
    record: {
      ...{ stack: 's', machine: 'm', kind: 'etcd', address: '10.0.0.1', instanceId: 'i', seedDigest: 'd' },
      ...{
        hardware: {},
        disks: { root: disk, seed: disk, data: undefined, program: undefined },
        started: [service('a', '')],
      },
    },
  }
}

test('a machine that is paused says so, with what to do about it, and its plan does, too', async () => {
  const paused = present({ state: 'paused', reason: 'I/O error' })
  const hint = 'free space in the pool of its disks, then let it go on with "virsh -c qemu:///system resume s-m"'
  expect(() => guests.of(paused)).toThrow(
    expect.objectContaining({
      code: 'MachinePaused',
      message: 'Cannot reach "m": its domain "s-m" is paused (I/O error)',
      hint,
    }),
  )
  const state = await guests.stateOf(paused)
  expect(state.services.get('a')).toMatchObject({ state: 'waiting' })
  expect(state.problem).toBe(`Cannot reach "m": its domain "s-m" is paused (I/O error); ${hint}`)
  expect(waitingToGoOn(paused)).toMatchObject([{ from: 'paused (I/O error)', to: 'running', why: hint }])
  expect(waitingToGoOn(present({ state: 'running' }))).toEqual([])
})

test('a machine that somebody paused by hand needs no room', () => {
  expect(() => guests.of(present({ state: 'paused', reason: 'user' }))).toThrow(
    expect.objectContaining({ hint: 'let it go on with "virsh -c qemu:///system resume s-m"' }),
  )
})

test('a machine that is off has services that are stopped', async () => {
  expect((await guests.stateOf(present({ state: 'shut off' }))).services.get('a')).toMatchObject({ state: 'stopped' })
})

test('services are removed in the order in which they are stopped: the last one first', async () => {
  const inputs: string[] = []
  const hypervisor: Hypervisor = {
    ...hypervisorOf({ kind: 'lxc', uri: 'lxc:///system' }),
    enter: async (_domain, _command, { input = new Uint8Array() }) => {
      inputs.push(Buffer.from(input).toString())
      return { code: 0, output: '{}', errors: '' }
    },
  }
  const machine = present({ state: 'running' })
  const record = { ...machine.record, started: [service('a', ''), service('b', '')] }
  expect(await guests.removeServices({ ...machine, hypervisor, record })).toBe(true)
  expect(inputs.join('')).toMatch(/holdfast-b\.service.*holdfast-a\.service/su)
})
