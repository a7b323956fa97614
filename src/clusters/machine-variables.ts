// Variables of machines as Terraform's modules hand them over: a map always has all of its keys, and what nobody gave is empty
// (a text, a list) or 0 (a number). Here that is the same as leaving it out. A number may be a text of digits.

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

/** What is in a map or a list; undefined for anything else. */
function partsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value as readonly unknown[]
  return isMap(value) ? Object.values(value) : undefined
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === 0 || (partsOf(value)?.every(isEmpty) ?? false)
}

function hasEmpty(value: unknown): boolean {
  return isEmpty(value) || (partsOf(value)?.some(hasEmpty) ?? false)
}

const orNone = (value: unknown) => (value === '' ? undefined : value)

const numeral = (value: unknown) => (typeof value === 'string' && /^\d{1,9}$/u.test(value) ? Number(value) : value)

function changed(map: Variables, change: (value: unknown, key: string) => unknown): Variables {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]))
}

/** An interface, or a list of them; none where all of it is empty. */
function networks(value: unknown): unknown {
  if (isEmpty(value)) return undefined
  return Array.isArray(value) ? value.map(network) : network(value)
}

function network(value: unknown): unknown {
  if (!isMap(value)) return value
  return changed(value, (each, key) => {
    if (key === 'prefix_length') return numeral(orNone(each))
    if (key === 'dns_servers' && isEmpty(each)) return undefined
    return key === 'mac' || key === 'gateway' ? orNone(each) : each
  })
}

/** How to log in to etcd: of its four variables two are given, or all. */
function client(value: unknown): unknown {
  return isMap(value) ? changed(value, orNone) : value
}

export const etcdClient = z.preprocess(client, etcdClientSchema) as unknown as typeof etcdClientSchema

/** Of what is not enabled, maps and lists are not needed; where something is empty in one, nobody minds what it says. */
function daemon(value: unknown): unknown {
  if (!isMap(value)) return value
  return changed(value, (part, key) => {
    if (partsOf(part) === undefined) return part
    const isUsed = value['enabled'] === true && (key !== 'etcd' || (part as Variables)['enabled'] === true)
    if (isUsed ? isEmpty(part) : hasEmpty(part)) return undefined
    return isMap(part) ? changed(part, partOfDaemon) : part
  })
}

function partOfDaemon(value: unknown, key: string): unknown {
  if (key === 'port') return numeral(value)
  if (key !== 'client') return value
  return isEmpty(value) ? undefined : client(value)
}

export const settingsShape = {
  ...settings,
  vcpus: prepared(settings.vcpus, numeral),
  memory: prepared(settings.memory, numeral),
  machine_network: prepared(settings.machine_network, networks),
  admin_user_password: prepared(settings.admin_user_password, orNone),
  ssh_admin_public_key: prepared(settings.ssh_admin_public_key, orNone),
  chrony: prepared(settings.chrony, daemon),
  fluentd: prepared(settings.fluentd, daemon),
  fluentbit: prepared(settings.fluentbit, daemon),
}

export const machineShape = {
  ...machine,
  libvirt_network: prepared(machine.libvirt_network, networks),
  libvirt_networks: prepared(machine.libvirt_networks, networks),
  macvtap_interfaces: prepared(machine.macvtap_interfaces, networks),
}
