import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { holdfast } from '../../test/support/command-line.ts'
import { FakeVirsh, machineRecord } from '../../test/support/fake-virsh.ts'
import { stackDirectory } from '../stack/directory.ts'
import { writeRecord } from '../stack/record.ts'

const [HERE, GONE] = ['qemu:///system', 'qemu+ssh://gone/system']

let virsh: FakeVirsh
let state: string
beforeEach(async () => {
  virsh = new FakeVirsh()
  state = mkdtempSync(join(tmpdir(), 'holdfast-plan-'))
  const file = join(state, 'stack.yaml')
  const network = 'libvirt_network: { network_name: default, ip: 192.168.122.10 }'
  const members = `members: [{ name: a, volume_id: /x, ${network} }]`
  writeFileSync(file, `name: kvm\ntarget: libvirt\ndomain: kvm.test\netcd: { ${members} }\n`)
  await writeRecord(stackDirectory(state, 'kvm').record, {
    ...{ id: 'ours', file, isEtcdFormed: true, isComplete: true, postgresVersion: undefined, target: 'libvirt' },
    ...{ hypervisors: [HERE, GONE], homes: { a: GONE } },
  })
  virsh.make(GONE, 'silent')
})
afterEach(() => {
  virsh.close()
  rmSync(state, { recursive: true })
})

const plan = (...args: string[]) => holdfast(['plan', 'kvm', ...args, '--state', state], { env: virsh.env })

test('a machine of a host that does not answer is not made elsewhere, unless that host is gone for good', async () => {
  const refused = await plan()
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining(`Cannot make "a" on ${HERE}: it was on ${GONE}`),
  ])
  expect((await plan('--without', HERE)).stderr).toContain('has machines there; give them another "hypervisor" first')
  const { code, stdout } = await plan('--without', GONE, '--json')
  expect([code, JSON.parse(stdout)]).toEqual([
    4,
    expect.objectContaining({ machines: [expect.objectContaining({ action: 'create' })] }),
  ])
})

test('machines of another stack of the same name are not planned with', async () => {
  virsh.add(HERE, machineRecord('kvm', 'a', { stackId: 'of others' }))
  const { code, stderr } = await plan()
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('belongs to a stack "kvm" that was made from another place'),
  ])
})
