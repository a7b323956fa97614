// The data disk of a machine: found by its serial number, given a file system only if there is nothing at all on it, and
// mounted at every boot where the machine has its data, before any service starts. A container has it mounted already.
//
//   holdfast-data-disk.service ──▶ var-lib-etcd.mount ──▶ holdfast-data.service ──▶ services
//   (formats or checks)                                   (gives it to its user)

import type { Machine, MachineDirectory } from '../../../machine/machine.ts'
import { octal } from '../../../machine/octal.ts'
import { DATA_SERIAL, type Placement } from '../placement.ts'
import { commandLine, escapePath } from '../../../machine/systemd-text.ts'
import type { Unit } from './units.ts'
import { ownFile, type WrittenFile } from './written-file.ts'

/** When it is active, data may be read and written. */
export const DATA_UNIT = 'holdfast-data.service'
const DISK_UNIT = 'holdfast-data-disk.service'
const DEVICE = `/dev/disk/by-id/virtio-${DATA_SERIAL}`

const PREPARE = ownFile(
  '/usr/local/lib/holdfast/prepare-disk.sh',
  `# Makes a file system on a disk with nothing at all on it; on any other, checks the one that is there.
# Usage: prepare-disk.sh DISK
set -eu
# Of a disk that cannot be read, blkid would say that nothing is on it, too.
head -c 4096 "$1" >/dev/null
code=0
blkid -p "$1" || code=$?
case $code in
0) fsck -a "$1" || [ $? -eq 1 ] ;;
2)
    # What was wiped, or is encrypted without a header, has no name that blkid knows.
    if ! cmp -s -n 1048576 "$1" /dev/zero; then
        echo "Cannot make a file system on $1: it is not empty, and what is on it is not known; it is left as it is" >&2
        echo "If nothing on it is wanted: wipefs --all $1 && dd if=/dev/zero of=$1 bs=1M count=1" >&2
        exit 1
    fi
    mkfs.ext4 -q -L ${DATA_SERIAL} "$1"
    ;;
*) echo "Cannot tell what is on $1; it is left as it is" >&2; exit 1 ;;
esac
`,
)

const OWN = ownFile(
  '/usr/local/lib/holdfast/own-data.sh',
  `# Gives a directory to a user. Data that another machine has left may belong to another number.
# Usage: own-data.sh USER MODE DIRECTORY
set -eu
[ "$(stat -c %U "$3")" = "$1" ] || chown -R "$1:" "$3"
chmod "$2" "$3"
# It would look like data. fsck makes it again when it needs it.
[ ! -d "$3/lost+found" ] || rmdir --ignore-fail-on-non-empty "$3/lost+found"
`,
)

export function dataFiles(machine: Machine, placement: Placement): WrittenFile[] {
  if (dataDirectory(machine, placement) === undefined) return []
  return placement.kind === 'lxc' ? [OWN] : [PREPARE, OWN]
}

/** In the order they start. */
export function dataUnits(machine: Machine, placement: Placement): Unit[] {
  const directory = dataDirectory(machine, placement)
  if (directory === undefined) return []
  return placement.kind === 'lxc'
    ? [ownUnit(directory)]
    : [diskUnit(), mountUnit(directory), ownUnit(directory, mountName(directory))]
}

/** Where the disk is mounted. */
export function dataDirectory({ directories }: Machine, { disks }: Placement): MachineDirectory | undefined {
  return disks.data === undefined ? undefined : directories.find(({ isData }) => isData)
}

function diskUnit(): Unit {
  const device = `${escapePath(DEVICE)}.device`
  return {
    name: DISK_UNIT,
    text: `[Unit]
Description=File system of the data disk (Holdfast)
Requires=${device}
After=${device}

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=${commandLine(['/bin/sh', PREPARE.path, DEVICE])}
`,
  }
}

function mountName({ path }: MachineDirectory): string {
  return `${escapePath(path)}.mount`
}

function mountUnit(directory: MachineDirectory): Unit {
  return {
    name: mountName(directory),
    text: `[Unit]
Description=Data disk (Holdfast)
Requires=${DISK_UNIT}
After=${DISK_UNIT}

[Mount]
What=${DEVICE}
Where=${directory.path.replaceAll('%', '%%')}
# The machine boots without it, and its services wait.
Options=nofail
`,
  }
}

function ownUnit({ path, owner, mode }: MachineDirectory, mount?: string): Unit {
  const needs = mount === undefined ? '' : `Requires=${mount}\nAfter=${mount}\n`
  return {
    name: DATA_UNIT,
    text: `[Unit]
Description=Owner of the data (Holdfast)
${needs}
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=${commandLine(['/bin/sh', OWN.path, owner, octal(mode), path])}
`,
  }
}
