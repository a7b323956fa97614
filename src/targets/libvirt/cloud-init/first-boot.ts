// The beginning and the end of a first boot. A root disk that somebody gave may have been another machine before: what that one would
// start is stopped, and its data are moved aside, before anything of ours starts; nothing of them is removed. And a first boot that was
// cut is not done again by cloud-init, which takes each step for done once it was begun: so it is marked, and told as an error.

import type { Machine } from '../../../machine/machine.ts'
import type { Placement } from '../placement.ts'
import { dataDirectory } from './data-disk.ts'
import { Block, type YamlValue } from './yaml-content.ts'

/** Of cloud-init: a directory for each instance, and this one is that of the present. */
const INSTANCE = '/var/lib/cloud/instance'
const [BEGUN, DONE] = [`${INSTANCE}/holdfast-begun`, `${INSTANCE}/holdfast-done`]

/** Arguments: how the instance is called in the new names, then the directories. Those that disks are mounted at cannot be moved, and need not. */
export const SET_ASIDE = `set -eu
instance=$1
shift
for unit in /etc/systemd/system/multi-user.target.wants/holdfast-*.service; do
    [ ! -L "$unit" ] || systemctl disable --now "\${unit##*/}"
done
for directory; do
    if [ ! -d "$directory" ] || mountpoint -q "$directory"; then continue; fi
    [ -z "$(ls -A "$directory")" ] || mv -T "$directory" "$directory.before-$instance"
done
`

const TELL_CUT = `if [ -e ${BEGUN} ] && [ ! -e ${DONE} ]; then
    echo 'Cannot go on: the first boot did not come to its end' >&2
    exit 1
fi
touch ${BEGUN}
`

/** For `bootcmd`, as its last ones: they run before all units that wait for the network. */
export function beginFirstBoot(machine: Machine, placement: Placement): YamlValue[] {
  const onDisk = dataDirectory(machine, placement)
  const paths = machine.directories.filter((each) => each.isData === true && each !== onDisk).map(({ path }) => path)
  const setAside = ['/bin/sh', '-c', SET_ASIDE, 'set-aside', placement.instanceId.slice(0, 8), ...paths]
  return ['set -e', ['cloud-init-per', 'instance', 'holdfast-set-aside', ...setAside], new Block([TELL_CUT])]
}

/** For `runcmd`, as its last one. */
export const END_FIRST_BOOT: readonly string[] = ['touch', DONE]
