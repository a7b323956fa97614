// What no sequence of steps leads to from the machines there are: told as an error, before anything is touched.

import { checkSameLogin } from '../clusters/etcd/check-login.ts'
import { PATHS as ETCD_PATHS } from '../clusters/etcd/settings.ts'
import { checkSameIdentity, readIdentity } from '../clusters/postgres/check-identity.ts'
import { HoldfastError } from '../lib/errors.ts'
import { reveal } from '../machine/content.ts'
import type { Machine } from '../machine/machine.ts'
import type { ExistingMachine } from '../targets/target.ts'
import type { MachinePlan, Plan } from './plan.ts'
import type { Stack } from './stack.ts'

type Existing = ReadonlyMap<string, ExistingMachine>

export function refuseImpossible({ etcd }: Stack, machines: readonly Machine[], existing: Existing): void {
  const holders = new Map([...existing.values()].map(({ name, address }) => [address, name]))
  for (const machine of machines) {
    refuseMove(machine, existing.get(machine.name), holders.get(machine.address))
    if (machine.kind === 'postgres') refuseOtherIdentity(machine, existing.get(machine.name))
  }
  const members = [...existing.values()].filter(({ kind }) => kind === 'etcd')
  const settings = members.map(({ files }) => files.get(ETCD_PATHS.settings)?.text).find((text) => text !== undefined)
  if (etcd !== undefined && settings !== undefined) checkSameLogin(etcd, settings)
}

/** Of a machine of etcd or PostgreSQL: whether there is anything on it that could be lost. */
export type HasData = (plan: MachinePlan) => boolean

/** A machine that is made anew gets its data from the others; the only one would have none. */
export function refuseLoss(planned: Plan, hasData: HasData): void {
  refuseLostDisks(planned, hasData)
  const { stack, machines } = planned
  for (const plan of machines) {
    const { machine, kind, action, keepsData, details } = plan
    if (action !== 'replace' || keepsData || (kind !== 'etcd' && kind !== 'postgres') || !hasData(plan)) continue
    const others = machines.filter((each) => each.kind === kind && each.machine !== machine)
    // One that is still to be made has no data either, and one that goes gives it to nobody.
    if (others.some((each) => each.action === 'none' || each.action === 'update' || each.action === 'replace')) continue
    const why = details.find(({ effect }) => effect === 'replace')
    throw new HoldfastError(
      'ReplaceLosesData',
      `Cannot make "${machine}" anew: it is the only machine with the data of ${kind}; expected another one beside it, or its data on a disk of its own (data_volume_id)`,
      {
        hint: `what makes it necessary is "${why?.name}": ${why?.why}; if the data may go, "holdfast down ${stack} --purge" takes all of the stack away, and "up" begins anew`,
      },
    )
  }
}

/** Where all disks are gone at once, a pool may only not be mounted: a new cluster would begin in its place, with nothing in it. */
function refuseLostDisks({ stack, machines }: Plan, hasData: HasData): void {
  for (const kind of ['etcd', 'postgres'] as const) {
    const holders = machines.filter((plan) => plan.kind === kind && plan.action !== 'create' && hasData(plan))
    const lost = holders.filter(({ hasLostData }) => hasLostData === true)
    if (lost.length === 0 || lost.length < holders.length) continue
    throw new HoldfastError(
      'DisksLost',
      `Cannot bring up ${kind}: the disks of all machines with its data are gone (${lost.map(({ machine }) => machine).join(', ')}); expected one of them`,
      {
        hint: `if what their pool is on is not mounted, mount it, and "virsh pool-refresh POOL"; if the data are lost, "holdfast down ${stack} --purge" takes all of the stack away, and "up" begins anew`,
      },
    )
  }
}

/** Clusters know their members by address, and another machine may still listen on it. */
function refuseMove({ name, address }: Machine, now: ExistingMachine | undefined, holder: string | undefined): void {
  const what = `Cannot give "${name}" the address ${address}:`
  if (holder !== undefined && holder !== name)
    throw new HoldfastError('MachineMoved', `${what} "${holder}" has it; expected another one`)
  if (now === undefined || now.address === address) return
  throw new HoldfastError('MachineMoved', `${what} it has ${now.address}; addresses stay`, {
    hint: 'under another name it is a new machine, which joins before the old one leaves',
  })
}

function refuseOtherIdentity({ name, files }: Machine, existing: ExistingMachine | undefined): void {
  const now = existing && readIdentity(existing.files)
  if (now === undefined) return
  const wanted = readIdentity(new Map(files.map(({ path, content }) => [path, { text: reveal(content) }])))
  if (wanted !== undefined) checkSameIdentity(name, now, wanted)
}
