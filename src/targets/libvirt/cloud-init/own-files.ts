// What of a machine's files is not of its services but of its being a virtual machine: where they lie, and their texts.

import { basename } from 'node:path'
import type { Machine, PackageSource } from '../../../machine/machine.ts'
import { type Placement, WATCHDOG } from '../placement.ts'
import { dataFiles } from './data-disk.ts'
import { INSTALL_PROGRAM, programsOf } from './program-copy.ts'
import { ownFile, type WrittenFile } from './written-file.ts'

/** Without apply.py, by which they are changed later. */
export function ownFiles(machine: Machine, placement: Placement): WrittenFile[] {
  return [
    ...dataFiles(machine, placement),
    ...(programsOf(machine).length > 0 ? [INSTALL_PROGRAM] : []),
    ...(machine.kind === 'postgres' ? postgresFiles(placement) : []),
    ...(machine.hardware.installDependencies ? packageFiles(machine) : []),
  ]
}

/** A package would make a cluster of its own when it is installed. */
const NO_MAIN_CLUSTER = ownFile('/etc/postgresql-common/createcluster.d/no-main.conf', 'create_main_cluster = false\n')

const watchdogRule = (identity: string) =>
  `SUBSYSTEM=="watchdog", ATTR{identity}=="${identity}", SYMLINK+="${basename(WATCHDOG)}", OWNER="postgres", GROUP="postgres", MODE="0600"\n`

/** Of several, /dev/watchdog is whichever was first: often that of the chipset, which resets nothing in many versions of QEMU. */
const WATCHDOG_RULES = ownFile(
  '/etc/udev/rules.d/61-holdfast-watchdog.rules',
  [watchdogRule('i6300ESB timer'), watchdogRule('Software Watchdog')].join(''),
)

function postgresFiles({ kind }: Placement): WrittenFile[] {
  return [NO_MAIN_CLUSTER, ...(kind === 'qemu' ? [WATCHDOG_RULES] : [])]
}

/** What a package only recommends may be a server, too. */
const NO_RECOMMENDS = ownFile('/etc/apt/apt.conf.d/90holdfast', 'APT::Install-Recommends "false";\n')

function packageFiles({ packageSources = [] }: Machine): WrittenFile[] {
  return [NO_RECOMMENDS, ...packageSources.flatMap(sourceFiles)]
}

/** apt reads keys as they are written here; cloud-init would want GnuPG to be there. */
function sourceFiles({ name, source, key }: PackageSource): WrittenFile[] {
  const keyFile = `/etc/apt/keyrings/${name}.asc`
  const line = source.trim().replaceAll('$KEY_FILE', () => keyFile)
  return [ownFile(keyFile, `${key.trim()}\n`), ownFile(`/etc/apt/sources.list.d/${name}.list`, `${line}\n`)]
}
