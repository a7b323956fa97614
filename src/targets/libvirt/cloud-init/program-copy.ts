// Our own program in a machine: copied from its volume when a service that needs it starts and it is not there yet. An
// image may bring it along. A copy is whole once it has its name.

import type { Machine, Service } from '../../../machine/machine.ts'
import { PROGRAM } from '../placement.ts'
import { commandLine } from '../../../machine/systemd-text.ts'
import type { Unit } from './units.ts'
import { ownFile } from './written-file.ts'

export const PROGRAM_UNIT = 'holdfast-program.service'
const PROGRAMS = `${PROGRAM.home}/program/`

export const INSTALL_PROGRAM = ownFile(
  '/usr/local/lib/holdfast/install-program.sh',
  `# Copies versions of the program that are not there from the volume that has them, and removes all others.
# Usage: install-program.sh VERSION...
set -eu
home=${PROGRAM.home}/program
volume=${PROGRAM.volume}

mount_volume() {
    # A container has it mounted.
    [ ! -d "$volume/program" ] || return 0
    mkdir -p "$volume"
    udevadm settle --timeout=30
    mount -o ro LABEL=${PROGRAM.label} "$volume"
    trap 'umount "$volume"' EXIT
}

for version; do
    [ ! -d "$home/$version" ] || continue
    mount_volume
    mkdir -p "$home"
    rm -rf "$home/.new-$version"
    cp -R --preserve=mode "$volume/program/$version" "$home/.new-$version"
    sync -f "$home/.new-$version"
    mv -T "$home/.new-$version" "$home/$version"
done

# Those that nobody wants go, once nobody runs them any more.
used=$(readlink /proc/[0-9]*/exe || :)
for old in "$home"/*; do
    case " $* " in *" \${old##*/} "*) continue ;; esac
    case "$used" in *"$old/"*) continue ;; esac
    rm -rf "$old"
done
`,
)

export function needsProgram({ command }: Service): boolean {
  return command[0].startsWith(PROGRAMS)
}

/** The versions of it that services start, by their hashes. */
export function programsOf({ services }: Machine): string[] {
  const versions = services.filter(needsProgram).map(({ command }) => command[0].slice(PROGRAMS.length).split('/')[0])
  return [...new Set(versions)]
}

/** Not active once it is done, so that it runs again with each start of a service that wants it. */
export function programUnits(machine: Machine): Unit[] {
  const versions = programsOf(machine)
  if (versions.length === 0) return []
  const text = `[Unit]
Description=Program of Holdfast
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart=${commandLine(['/bin/sh', INSTALL_PROGRAM.path, ...versions])}
`
  return [{ name: PROGRAM_UNIT, text }]
}
