// What every machine of a stack file takes, whatever its kind. Settings may stand at the machine, at its cluster or at the
// top of the file: the nearest wins, so none has its default here but in DEFAULTS.

import { isIPv4 } from 'node:net'
import { z } from 'zod'
import { flag, list, number, preset, secret, text, written } from '../document/values.ts'
import { chronySchema, fluentbitSchema, fluentdSchema } from './schema-logs.ts'
import { machineNetworkSchema, maybeEmpty, networkShape } from './schema-networks.ts'

export const MACHINE_DEFAULTS = {
  hypervisor: 'qemu:///system',
  accelerator: 'auto',
  autostart: true,
  vcpus: 2,
  memory: 8192,
  ssh_admin_user: 'ubuntu',
  install_dependencies: true,
} as const

/** Of those that Debian makes; what runs has users of its own. */
const TAKEN_USERS: readonly string[] = ['root', 'etcd', 'postgres', 'haproxy', 'holdfast', 'prometheus', '_chrony']

function isAdministrator(word: string): boolean {
  return /^[a-z_][a-z0-9_-]{0,31}$/u.test(word) && !TAKEN_USERS.includes(word)
}

const administrator = written(
  (word) => (isAdministrator(word) ? word : undefined),
  'user name',
  'the name of an administrator',
  'lower-case letters, digits, "-" and "_", at most 32 of them, and no user that something runs as',
)

const uri = written(
  (word) => (word !== '' && !/[\p{Cc}\s]/u.test(word) ? word : undefined),
  'URI',
  'a URI of libvirt',
  'one such as qemu+ssh://kvm1/system',
)

/** At a machine, at its cluster, or at the top of the file. */
export const settingsShape = {
  hypervisor: preset(uri, MACHINE_DEFAULTS.hypervisor).describe(
    'With `target: libvirt`, where the machine runs, as `virsh --connect` takes it.',
  ),
  accelerator: preset(
    z.enum(['auto', 'kvm', 'tcg'], { error: '"auto", "kvm" or "tcg"' }),
    MACHINE_DEFAULTS.accelerator,
  ).describe('`kvm`, or `tcg` (emulation, slow). `auto` tries whether a machine boots with KVM.'),
  autostart: preset(flag, MACHINE_DEFAULTS.autostart).describe('Whether it starts with its hypervisor.'),
  volume_pool: text('the name of a pool').optional().describe('Volume pool for disks that are made.'),
  base_volume: text('the name of a volume')
    .optional()
    .describe(
      'Volume with the image that root disks are made from, where a machine has no `volume_id`: `NAME` in `volume_pool`, or `POOL/NAME`.',
    ),
  volume_size: number(1, 65_536)
    .optional()
    .describe('Size in GiB of root disks that are made; that of `base_volume` unless given.'),
  vcpus: preset(number(1, 512), MACHINE_DEFAULTS.vcpus).describe('Virtual processors.'),
  memory: preset(number(128, 16_777_216), MACHINE_DEFAULTS.memory).describe('Memory in MiB.'),
  machine_network: machineNetworkSchema
    .optional()
    .describe('With `target: libvirt`, the network of machines that name none, and the addresses they get there.'),
  cloud_init_volume_pool: text('the name of a pool').optional().describe('Volume pool for the cloud-init volume.'),
  ssh_admin_user: preset(administrator, MACHINE_DEFAULTS.ssh_admin_user).describe(
    'Name of the administrator in the image.',
  ),
  admin_user_password: secret
    .optional()
    .describe('Password of the administrator on the console; over SSH it is not accepted.'),
  ssh_admin_public_key: text('a public key').optional().describe('Public SSH key of the administrator.'),
  chrony: chronySchema.optional().describe('Fine-grained time settings.'),
  fluentd: fluentdSchema.optional().describe('Sends logs elsewhere, with fluentd.'),
  fluentbit: fluentbitSchema.optional().describe('Sends logs elsewhere, with fluent-bit.'),
  install_dependencies: preset(flag, MACHINE_DEFAULTS.install_dependencies).describe(
    'Whether packages are installed at the first boot; `false` for an image that has them.',
  ),
}

/** As many as there are addresses for a kind of machine. */
const MOST_MACHINES = 2500

/** Their number, or each with its settings. */
export function machines<T extends z.ZodType>(machine: T, what: 'members' | 'servers') {
  return z.union([number(1, MOST_MACHINES), list(machine, `a list of ${what}`)], {
    error: `a number of ${what}, or a list of them`,
  })
}

/** A DNS label: the name of a host, and of directories. */
export const hostName = written(
  (word) => (/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/u.test(word) ? word : undefined),
  'name',
  'a host name',
  'lower-case letters, digits and "-", at most 63 of them, such as etcd-1',
)

/** This host's own, and those that stand for the whole network. */
const NOBODYS: readonly string[] = ['127.0.0.1', '127.0.0.0', '127.255.255.255']

/** Of a file in the directory of a pool; containers have one of that name without `.iso`. */
function isVolumeName(word: string): boolean {
  return (
    !/[/\p{Cc}]/u.test(word) && !['', '.', '..'].includes(word.replace(/\.iso$/u, '')) && Buffer.byteLength(word) <= 255
  )
}

/** Only at a machine. */
export const machineShape = {
  name: hostName.describe('Name of the machine and its host name; no two of a stack have the same.'),
  local_address: written(
    (word) => (isIPv4(word) && word.startsWith('127.') && !NOBODYS.includes(word) ? word : undefined),
    'address',
    'a loopback address of its own',
    'an address such as 127.77.10.1',
  )
    .optional()
    .describe('Its address with `target: local`. Otherwise a free one of `network`, which it then keeps.'),
  volume_id: maybeEmpty('an id').describe('Id of the volume with the image it boots from.'),
  data_volume_id: maybeEmpty('an id').describe('Id of a volume of its own for its data.'),
  ...networkShape,
  cloud_init_volume_name: maybeEmpty('the name of a file, without "/"', isVolumeName).describe(
    'Name of the cloud-init volume; `STACK-NAME-cloud-init.iso` unless given.',
  ),
}

const settingsSchema = z.strictObject(settingsShape)
const machineSchema = z.strictObject(machineShape)

export type SettingsDocument = z.output<typeof settingsSchema>
export type MachineDocument = z.output<typeof machineSchema>
