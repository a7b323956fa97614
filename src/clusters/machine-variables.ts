// Variables of machines as Terraform's modules hand them over: a map always has all of its keys, and what nobody gave is empty
// (a text, a list) or 0 (a number). Here that is the same as leaving it out.

import { z } from 'zod'
import { machineShape as machine, settingsShape as settings } from '../machine/schema.ts'
import { etcdClientSchema } from '../machine/schema-etcd.ts'

type Variables = Readonly<Record<string, unknown>>

/** The same schema, which may be left out, of what `prepare` makes of a value. */
function prepared<T extends z.ZodType>(schema: T, prepare: (value: unknown) => unknown): T {
  const taken = z.preprocess(prepare, schema).optional()
  // What people write has the same type, and so has what becomes of it.
  return taken.meta(schema.meta() ?? {}) as unknown as T
}

function isMap(value: unknown): value is Variables {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEmpty(value: unknown): boolean {
  if (isMap(value)) return Object.values(value).every(isEmpty)
  return value === '' || value === 0 || (Array.isArray(value) && value.length === 0)
}

function hasEmpty(value: unknown): boolean {
  return isEmpty(value) || (isMap(value) && Object.values(value).some(hasEmpty))
}

const orNone = (value: unknown) => (value === '' ? undefined : value)

function changed(map: Variables, change: (value: unknown, key: string) => unknown): Variables {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]))
}

/** An interface, or a list of them. A prefix length may be a text. */
function networks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(networks)
  if (!isMap(value)) return value
  return changed(value, (each, key) => {
    if (key === 'prefix_length' && typeof each === 'string' && /^\d{1,3}$/u.test(each)) return Number(each)
    return key === 'mac' || key === 'gateway' || key === 'prefix_length' ? orNone(each) : each
  })
}

/** How to log in to etcd: of its four variables two are given. */
function client(value: unknown): unknown {
  return isMap(value) ? changed(value, orNone) : value
}

export const etcdClient = z.preprocess(client, etcdClientSchema) as unknown as typeof etcdClientSchema

/** Of what is not enabled, maps are not needed; where something is empty in one, nobody minds what it says. */
function agent(value: unknown): unknown {
  if (!isMap(value)) return value
  return changed(value, (part, key) => {
    if (!isMap(part)) return part
    const isUsed = value['enabled'] === true && (key !== 'etcd' || part['enabled'] === true)
    if (isUsed ? isEmpty(part) : hasEmpty(part)) return undefined
    return 'client' in part ? { ...part, client: isEmpty(part['client']) ? undefined : client(part['client']) } : part
  })
}

export const settingsShape = {
  ...settings,
  machine_network: prepared(settings.machine_network, networks),
  admin_user_password: prepared(settings.admin_user_password, orNone),
  ssh_admin_public_key: prepared(settings.ssh_admin_public_key, orNone),
  fluentd: prepared(settings.fluentd, agent),
  fluentbit: prepared(settings.fluentbit, agent),
}

export const machineShape = {
  ...machine,
  libvirt_network: prepared(machine.libvirt_network, networks),
  libvirt_networks: prepared(machine.libvirt_networks, networks),
  macvtap_interfaces: prepared(machine.macvtap_interfaces, networks),
}
