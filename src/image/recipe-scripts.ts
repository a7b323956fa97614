// The two scripts that mmdebstrap runs in the course of a build, each with the root file system as its argument: one when
// essential packages are there, one when all are. They lie in the directory of the build.

import { ROOT_NUMBER } from './partitions.ts'
import { ENABLED_UNITS, EPOCH_SECONDS } from './recipe.ts'

/** What is there before packages come decides what they do. */
export const BEFORE_PACKAGES = `#!/bin/sh
set -eu
umask 022
cp -R --no-preserve=all "$(dirname "$0")/overlay/." "$1/"
`

/** GRUB finds its configuration by the number of the partition on the disk it was started from. */
const GRUB_PREFIX = `(,gpt${ROOT_NUMBER})/boot/grub`
const GRUB_MODULES = 'biosdisk part_gpt ext2 normal linux'

/** What a build leaves in it that is of this one machine or this one moment: keys, above all. */
const TRACES: readonly string[] = [
  'etc/apt/apt.conf.d/99mmdebstrap',
  'etc/apt/preferences.d/preferences',
  'etc/ssh/ssh_host_*',
  'etc/ssl/certs/ssl-cert-snakeoil.pem',
  'etc/ssl/private/ssl-cert-snakeoil.key',
  'etc/*-',
  'var/cache/debconf/*-old',
  'var/cache/ldconfig/aux-cache',
  'var/lib/dbus/machine-id',
  'var/lib/dpkg/*-old',
  'var/log/alternatives.log',
  'var/log/apt/*',
  'var/log/bootstrap.log',
  'var/log/dpkg.log',
]

/**
 * Python takes a compiled file only with the time of its source in it. Sources that are to get an older time get it here,
 * and are compiled again: else every machine would do it, for half a minute of its first boot.
 */
const COMPILE_PYTHON = `
find usr/lib/python3* -name '*.py' -newermt @${EPOCH_SECONDS} -exec touch --date=@${EPOCH_SECONDS} {} +
chroot . sh -c 'python3 -m compileall -q /usr/lib/python3*'
`

export const AFTER_PACKAGES = `#!/bin/sh
set -eu
umask 022
build=$(dirname "$0")
cd "$1"
chroot . dpkg-query --show --showformat='\${Package} \${Version}\\n' > "$build/installed"
chroot . systemctl enable ${ENABLED_UNITS.join(' ')}
chroot . grub-mkimage --format=i386-pc --output=/boot/grub/core.img --prefix='${GRUB_PREFIX}' ${GRUB_MODULES}
cp usr/lib/grub/i386-pc/boot.img boot/grub/boot.img
ln -sfn ../run/systemd/resolve/resolv.conf etc/resolv.conf
printf 'localhost\\n' > etc/hostname
printf '127.0.0.1 localhost\\n::1 localhost ip6-localhost ip6-loopback\\n' > etc/hosts
: > etc/machine-id
${COMPILE_PYTHON.trim()}
find etc/ssl/certs -lname ssl-cert-snakeoil.pem -delete
sed --in-place /force-unsafe-io/d etc/dpkg/dpkg.cfg.d/99mmdebstrap
rm -rf ${TRACES.join(' ')}
`
