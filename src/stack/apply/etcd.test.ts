import { describe, expect, test } from 'vitest'
import { etcdSpec, etcdUser } from '../../../test/support/etcd-machines.ts'
import type { EtcdSpec } from '../../clusters/etcd/spec.ts'
import { plain } from '../../machine/content.ts'
import type { MachinePlan } from '../plan.ts'
import { changeEtcd, formEtcd } from './etcd.ts'
import { EtcdWorld, fakeSite } from './testing.ts'

const spec = of(3)
const names = ['etcd-1', 'etcd-2', 'etcd-3']

function of(count: number, changes: Partial<EtcdSpec> = {}): EtcdSpec {
  return etcdSpec(
    Array.from({ length: count }, (_, index) => `10.0.0.${index + 1}`),
    changes,
  )
}

function without(name: string): EtcdSpec {
  return { ...spec, members: spec.members.filter((member) => member.name !== name) }
}

async function change(world: EtcdWorld, to: EtcdSpec, plans: readonly MachinePlan[] = []): Promise<string[]> {
  await changeEtcd(await world.work(to, plans), to)
  return world.happened
}

const warnings = ({ reported }: EtcdWorld) =>
  reported.filter(({ state }) => state === 'warning').map(({ message }) => message)

describe('a new cluster', () => {
  test('starts with all members at once', async () => {
    const world = new EtcdWorld()
    for (const { name, address } of spec.members) world.etcd.has({ name, address }, { isRunning: false })
    await formEtcd(await world.work(spec))
    expect(world.happened.toSorted()).toEqual(
      names.flatMap((name) => [`start ${name}`, `write ${name}`, `write ${name}`]).toSorted(),
    )
    expect([...world.etcd.running].toSorted()).toEqual(names)
  })

  test('is not made where the stack file says that there is one', async () => {
    const world = new EtcdWorld()
    await expect(formEtcd(await world.work(of(3, { isExisting: true })))).rejects.toMatchObject({
      code: 'EtcdNotThere',
    })
    expect(world.happened).toEqual([])
  })
})

describe('a running cluster', () => {
  test('that is as it should be is left alone', async () => {
    expect(await change(new EtcdWorld().formed(spec), spec)).toEqual([])
  })

  test('restarts one member at a time for a setting, and never loses quorum', async () => {
    const world = new EtcdWorld().formed(spec)
    expect(await change(world, { ...spec, spaceQuotaBytes: 2 ** 30 })).toEqual(
      names.flatMap((name) => [`write ${name}`, `restart ${name}/etcd`]),
    )
  })

  test('restarts nothing for a renewed certificate, and every member for another authority', async () => {
    const world = new EtcdWorld().formed(spec)
    const renewed = () => ({ certificate: plain('new\n'), key: plain('new\n') })
    world.site = fakeSite({ certificate: renewed })
    expect(await change(world, spec)).toEqual(names.map((name) => `write ${name}`))
    world.happened.length = 0
    world.site = fakeSite({ certificate: renewed, authority: plain('ANOTHER\n') })
    expect(await change(world, spec)).toEqual(names.flatMap((name) => [`write ${name}`, `restart ${name}/etcd`]))
  })

  test('does not stop a member while another one is down', async () => {
    const world = new EtcdWorld().formed(spec)
    world.etcd.running.delete('etcd-3')
    world.target.broken.add('etcd-3')
    await expect(change(world, { ...spec, spaceQuotaBytes: 2 ** 30 })).rejects.toMatchObject({ code: 'NotReady' })
    expect(world.happened).not.toContain('restart etcd-1/etcd')
    expect(world.happened).not.toContain('restart etcd-2/etcd')
  })

  test('sets up users before anything else', async () => {
    const world = new EtcdWorld().formed(spec)
    const happened = await change(world, { ...spec, users: [etcdUser('new')], spaceQuotaBytes: 2 ** 30 })
    expect(happened.slice(0, 2)).toEqual(['write etcd-1', 'restart etcd-1/etcd-auth'])
  })

  test('gives its clients their certificates after the users and before the first restart, if they have none', async () => {
    const byPassword = of(3, { clientCertAuth: false, users: [etcdUser('dns')] })
    const world = new EtcdWorld().formed(byPassword)
    for (const [name, machine] of world.target.machinesNow) {
      const files = machine.files
        .filter(({ path }) => path !== '/etc/etcd/client-ca.pem')
        .map((file) =>
          file.path === '/etc/etcd/etcd.env' ? { ...file, content: plain('ETCD_CLIENT_CERT_AUTH=false\n') } : file,
        )
      const scriptless = files.map((file) => (file.path.endsWith('set-up.sh') ? { ...file, content: plain('') } : file))
      world.target.machinesNow.set(name, { ...machine, files: scriptless })
    }
    const settingsOf = (name: string) => {
      const file = world.target.machinesNow.get(name)?.files.find(({ path }) => path === '/etc/etcd/etcd.env')
      return String(file?.content)
    }
    const clientsFirst = async () => {
      world.happened.push('clients')
      // Should a member end now, it still takes clients without a certificate when it is back.
      for (const name of names) expect(settingsOf(name)).not.toContain('ETCD_TRUSTED_CA_FILE')
    }
    await changeEtcd(await world.work(byPassword), byPassword, { clientsFirst })
    expect(world.happened).toEqual([
      ...['write etcd-1', 'restart etcd-1/etcd-auth', 'clients'],
      ...names.flatMap((name) => [`write ${name}`, `restart ${name}/etcd`]),
    ])
    for (const name of names) expect(settingsOf(name)).toContain('ETCD_TRUSTED_CA_FILE')
  })

  test('that an older version founded starts only with its data from now on', async () => {
    const world = new EtcdWorld().formed(spec)
    const initialOf = (name: string) =>
      String(world.target.machinesNow.get(name)?.files.find(({ path }) => path === '/etc/etcd/initial.env')?.content)
    for (const [name, machine] of world.target.machinesNow) {
      const files = machine.files.map((file) =>
        file.path === '/etc/etcd/initial.env' ? { ...file, content: plain('ETCD_INITIAL_CLUSTER_STATE=new\n') } : file,
      )
      world.target.machinesNow.set(name, { ...machine, files })
    }
    expect(await change(world, spec)).toEqual(names.map((name) => `write ${name}`))
    for (const name of names) expect(initialOf(name)).toContain('ETCD_INITIAL_CLUSTER_STATE=existing')
  })

  test('enables authentication again where it is off', async () => {
    const world = new EtcdWorld().formed(spec)
    world.etcd.hasAuth = false
    expect(await change(world, spec)).toEqual(['restart etcd-1/etcd-auth'])
    expect(warnings(world)).toEqual(['authentication of etcd is disabled; it is enabled again'])
  })

  test('with a member that the stack never had leaves that alone', async () => {
    const world = new EtcdWorld().formed(spec)
    world.etcd.has({ name: 'stranger', address: '10.0.0.9' })
    expect(await change(world, spec)).toEqual([])
    expect(warnings(world)).toEqual([expect.stringContaining('"stranger"')])
  })
})

describe('members', () => {
  test('join as learners, each promoted before the next one comes', async () => {
    const world = new EtcdWorld().formed(spec)
    expect(await change(world, of(5))).toEqual(
      ['4', '5'].flatMap((n) => [
        `add 10.0.0.${n}`,
        `write etcd-${n}`,
        `start etcd-${n}`,
        `write etcd-${n}`,
        `promote etcd-${n}`,
      ]),
    )
  })

  test('leave the cluster before their machine is removed', async () => {
    const world = new EtcdWorld().formed(of(5))
    const happened = await change(world, spec)
    expect(happened.filter((each) => each !== 'hand over the lead')).toEqual([
      ...['drop etcd-4', 'drop etcd-5', 'remove etcd-4', 'remove etcd-5'],
    ])
  })

  test('do not leave where the others would have no quorum', async () => {
    const world = new EtcdWorld().formed(spec)
    world.etcd.running.delete('etcd-2')
    world.target.broken.add('etcd-2')
    await expect(change(world, without('etcd-3'))).rejects.toMatchObject({ code: 'NotReady' })
    expect(world.happened).not.toContain('drop etcd-3')
    expect(world.happened).not.toContain('remove etcd-3')
  })

  test('are recreated one at a time, as new members', async () => {
    const world = new EtcdWorld().formed(spec)
    const plan = replaced('etcd-2', '10.0.0.2')
    const happened = await change(world, spec, [plan])
    // Removing it once more changes nothing.
    expect([...new Set(happened)]).toEqual([
      ...['drop etcd-2', 'remove etcd-2', 'add 10.0.0.2', 'write etcd-2', 'start etcd-2', 'promote etcd-2'],
    ])
  })

  test('that keep their data are recreated as the members they were', async () => {
    const world = new EtcdWorld().formed(spec)
    const plan = { ...replaced('etcd-2', '10.0.0.2'), keepsData: true }
    world.target.ownVolumes.add('etcd-2')
    expect(await change(world, spec, [plan])).toEqual(['remove etcd-2', 'write etcd-2', 'start etcd-2'])
  })
})

describe('a member without its data', () => {
  const AGAIN = [
    ...['drop etcd-3', 'remove etcd-3', 'add 10.0.0.3'],
    ...['write etcd-3', 'start etcd-3', 'write etcd-3', 'promote etcd-3'],
  ]

  test('is replaced, while the others keep quorum', async () => {
    const world = new EtcdWorld().formed(spec).lose('etcd-3')
    expect(await change(world, spec)).toEqual(AGAIN)
    expect(warnings(world)).toEqual(['its data is gone; it joins again, without it'])
    expect(world.etcd.members).toHaveLength(3)
  })

  test('is replaced each time that it loses its data', async () => {
    const world = new EtcdWorld().formed(spec).lose('etcd-3')
    await change(world, spec)
    world.lose('etcd-3')
    expect(await change(world, spec)).toEqual([...AGAIN, ...AGAIN])
  })

  test('is replaced, too, when it is a founder of the cluster', async () => {
    const world = new EtcdWorld()
    for (const { name, address } of spec.members) world.etcd.has({ name, address }, { isRunning: false })
    await formEtcd(await world.work(spec))
    world.happened.length = 0
    expect(await change(world.lose('etcd-3'), spec)).toEqual(AGAIN)
  })

  test('is replaced, too, when the machines were removed before and only their data was kept', async () => {
    const world = new EtcdWorld().formed(spec)
    for (const name of names) {
      world.target.machinesNow.delete(name)
      world.etcd.running.delete(name)
    }
    await change(world, spec)
    world.happened.length = 0
    expect(await change(world.lose('etcd-3'), spec)).toEqual(AGAIN)
  })

  test('comes back before another one is restarted', async () => {
    const world = new EtcdWorld().formed(spec).lose('etcd-3')
    expect(await change(world, { ...spec, spaceQuotaBytes: 2 ** 30 })).toEqual([
      ...AGAIN,
      ...['write etcd-1', 'restart etcd-1/etcd', 'write etcd-2', 'restart etcd-2/etcd'],
    ])
  })

  test('is replaced, too, when it is the one that sets up users', async () => {
    const world = new EtcdWorld().formed(spec).lose('etcd-1')
    const happened = await change(world, { ...spec, users: [etcdUser('new')] })
    expect(happened.slice(0, 2)).toEqual(['drop etcd-1', 'remove etcd-1'])
    expect(happened.at(-1)).toBe('promote etcd-1')
  })

  test('is recreated where it was removed from the cluster by hand, also on a target that does not see what it lost', async () => {
    const world = new EtcdWorld().formed(spec)
    await world.etcd.memberRemove(world.etcd.members[2].id)
    expect(await change(world, spec)).toEqual(AGAIN)
  })

  test('stays what it is while there is no quorum', async () => {
    const world = new EtcdWorld().formed(spec).lose('etcd-2').lose('etcd-3')
    await expect(change(world, spec)).rejects.toMatchObject({ code: 'EtcdUnreachable' })
    expect(world.happened).toEqual([])
  })

  test('without the data of any other there is a new cluster, and its users are set up', async () => {
    const world = new EtcdWorld().formed(spec)
    for (const name of names) world.lose(name)
    const happened = await change(world, spec)
    expect(happened).toContain('restart etcd-1/etcd-auth')
    expect(warnings(world)).toEqual(['the data of etcd is gone; it starts with nothing in it'])
    world.happened.length = 0
    expect(await change(world.lose('etcd-3'), spec)).toEqual(AGAIN)
  })

  test('or none, where the stack file says that there must be one', async () => {
    const world = new EtcdWorld().formed(spec)
    for (const name of names) world.lose(name)
    await expect(change(world, { ...spec, isExisting: true })).rejects.toMatchObject({ code: 'EtcdNotThere' })
    expect(world.happened).toEqual([])
  })
})

describe('a cluster without quorum', () => {
  test('is not changed', async () => {
    const world = new EtcdWorld().formed(spec)
    for (const name of ['etcd-2', 'etcd-3']) {
      world.etcd.running.delete(name)
      world.target.broken.add(name)
    }
    await expect(change(world, { ...spec, spaceQuotaBytes: 2 ** 30 })).rejects.toMatchObject({
      code: 'EtcdUnreachable',
    })
    expect(world.happened).toEqual([])
  })

  test('gets the hint that those which leave may be needed', async () => {
    const world = new EtcdWorld().formed(spec)
    for (const name of ['etcd-1', 'etcd-2']) {
      world.etcd.running.delete(name)
      world.target.broken.add(name)
    }
    await expect(change(world, without('etcd-3'))).rejects.toMatchObject({
      code: 'EtcdQuorum',
      hint: expect.stringContaining('(etcd-3)'),
    })
    expect(world.happened).toEqual([])
  })
})

describe('a join that was interrupted', () => {
  const four = of(4)
  const member = four.members[3]

  test('continues where the learner has started', async () => {
    const world = new EtcdWorld().formed(spec)
    world.etcd.has(member, { isLearner: true })
    world.target.filled.add('etcd-4')
    world.target.machinesNow.set('etcd-4', { ...(await machineOf(world, four, 'etcd-4')) })
    expect((await change(world, four)).filter((each) => each !== 'write etcd-4')).toEqual(['promote etcd-4'])
  })

  test('begins again where the learner never wrote anything', async () => {
    const world = new EtcdWorld().formed(spec)
    world.etcd.has({ ...member, name: '' }, { isLearner: true, isRunning: false })
    expect(await change(world, four)).toEqual([
      ...['drop 10.0.0.4', 'add 10.0.0.4', 'write etcd-4', 'start etcd-4', 'write etcd-4', 'promote etcd-4'],
    ])
  })

  test('is undone where the stack file has the member no longer', async () => {
    const world = new EtcdWorld().formed(spec)
    world.etcd.has({ ...member, name: '' }, { isLearner: true, isRunning: false })
    expect(await change(world, spec)).toEqual(['drop 10.0.0.4'])
  })
})

async function machineOf(world: EtcdWorld, to: EtcdSpec, name: string) {
  return (await world.work(to)).renderMember(name, to.members)
}

function replaced(machine: string, address: string): MachinePlan {
  return { machine, address, kind: 'etcd', action: 'replace', effect: 'replace', details: [] }
}
