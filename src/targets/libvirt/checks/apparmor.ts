// AppArmor and pools. Each machine may open the disks that its definition names by path, and what those are based on. For
// the latter libvirt's helper looks into the disk, and its own profile lets it do so only in the places and with the endings below.

import { dirname } from 'node:path'
import { type Finding, ok, warning } from '../../finding.ts'
import { isBlockDevice } from '../disk-source.ts'
import type { PlaceFacts } from '../place-facts.ts'
import type { PlacedMachine } from './placed-machine.ts'

/** As in `/etc/apparmor.d/usr.lib.libvirt.virt-aa-helper` of Debian and Ubuntu. */
const READABLE = [
  /^\/var\/lib\/libvirt\/images\//u,
  /^\/(?:media|mnt|opt|srv)\//u,
  /^\/(?:home\/[^/]+|root)\/(?!\.|bin\/)/u,
  /\.(?:img|raw|qcow2?|qed|vmdk|vhd|iso)$/iu,
  /\/disk(?:\.[^/]*)?$/u,
] as const

export function checkApparmor(placed: readonly PlacedMachine[], { host, kind }: PlaceFacts): readonly Finding[] {
  if (kind === 'lxc' || !host.security.includes('apparmor')) return []
  const hidden = placed.flatMap(({ placement: { disks } }) =>
    [disks.root, disks.data].flatMap((disk) => (disk === undefined || !isHidden(disk) ? [] : [disk.path])),
  )
  if (hidden.length === 0) return [ok('apparmor', 'libvirt can see what the disks are based on')]
  const directories = [...new Set(hidden.map((path) => dirname(path)))]
  const rules = directories.map((directory) => `"${directory}/**" r,`).join(' ')
  return [
    warning(
      'apparmor',
      `AppArmor on ${host.name} keeps libvirt from looking into ${hidden.join(', ')}; a machine whose disk is based on another one will not start`,
      `add the line ${rules} to /etc/apparmor.d/local/usr.lib.libvirt.virt-aa-helper there, and reload AppArmor; or let the names end in .qcow2`,
    ),
  ]
}

/** Only formats that know of another disk matter. */
function isHidden({ path, format }: { readonly path: string; readonly format: string }): boolean {
  return format === 'qcow2' && !isBlockDevice(path) && !READABLE.some((pattern) => pattern.test(path))
}
