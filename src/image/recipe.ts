// What an image is made of besides packages: the files it has before any package comes, what is started in it, and what
// stays out. All of it is part of the hash of an image.
//
// The machines are virtual, and many of them start on few cores: nothing runs that no machine needs, the first RAM disk has
// the drivers of disks alone, and the kernel none of sound, graphics and radio.

import { FILE_SYSTEM_OPTIONS, FSTAB, PARTITION_TABLE, ROOT_PARTITION } from './partitions.ts'
import type { PackageList } from './package-list.ts'

/** Files that are younger get this time (2025-01-01), so that when an image was built is not seen in it. */
export const EPOCH_SECONDS = 1_735_689_600

/** What boots, has a network and the right time, and does as cloud-init is told. */
const SYSTEM_PACKAGES: readonly string[] = [
  'ca-certificates',
  'chrony',
  'cloud-guest-utils',
  'cloud-init',
  'dbus',
  'e2fsprogs',
  'fdisk',
  'grub-common',
  'grub-pc-bin',
  'initramfs-tools',
  'iproute2',
  'iputils-ping',
  'kmod',
  'libpam-systemd',
  'linux-image-amd64',
  'netbase',
  'openssh-server',
  'procps',
  'qemu-guest-agent',
  'sudo',
  'systemd-resolved',
  'systemd-sysv',
  'udev',
  'zstd',
]

/** What machines of a stack run. */
const SERVICE_PACKAGES: readonly string[] = [
  'bind9-dnsutils',
  'etcd-client',
  'etcd-server',
  'haproxy',
  'patroni',
  'postgresql',
  'prometheus-node-exporter',
  'python3-etcd',
  'python3-idna',
]

/** Whose archives packages are taken from; they have other names elsewhere. */
export const DISTRIBUTION = 'Debian'

export function wantedPackages(plain: boolean, more: readonly string[]): readonly string[] {
  return [...new Set([...SYSTEM_PACKAGES, ...(plain ? [] : SERVICE_PACKAGES), ...more])].toSorted()
}

/** Below the modules of a kernel: none of this is in a virtual machine, and what is loaded by mistake takes time. */
const LEFT_OUT_MODULES: readonly string[] = [
  'arch/x86/kvm',
  'drivers/bluetooth',
  'drivers/comedi',
  'drivers/firewire',
  'drivers/gpu',
  'drivers/i2c',
  'drivers/iio',
  'drivers/infiniband',
  'drivers/input/misc',
  'drivers/input/mouse',
  'drivers/isdn',
  'drivers/media',
  'drivers/net/wireless',
  'drivers/staging',
  'net/bluetooth',
  'net/mac80211',
  'net/wireless',
  'sound',
]

/** Patterns of dpkg. */
const LEFT_OUT: readonly string[] = [
  '/usr/share/info/*',
  '/usr/share/locale/*',
  '/usr/share/man/*',
  ...LEFT_OUT_MODULES.flatMap((path) => ['/lib', '/usr/lib'].map((lib) => `${lib}/modules/*/kernel/${path}/*`)),
]

/** Options of mmdebstrap. */
export const BOOTSTRAP_OPTIONS: readonly string[] = [
  '--mode=root',
  '--variant=apt',
  '--format=tar',
  '--aptopt=APT::Install-Recommends "false"',
  '--dpkgopt=force-unsafe-io',
  ...LEFT_OUT.map((pattern) => `--dpkgopt=path-exclude=${pattern}`),
]

export const ENABLED_UNITS: readonly string[] = [
  'qemu-guest-agent.service',
  'serial-getty@ttyS0.service',
  'systemd-networkd-wait-online.service',
  'systemd-networkd.service',
  'systemd-resolved.service',
]

/** Of a machine that lives as long as its stack, and is cared for by it. */
export const MASKED_UNITS: readonly string[] = [
  'apt-daily-upgrade.timer',
  'apt-daily.timer',
  'cloud-init-hotplugd.socket',
  'dpkg-db-backup.timer',
  'e2scrub_all.timer',
  'e2scrub_reap.service',
  'grub-common.service',
  'modprobe@drm.service',
  'proc-sys-fs-binfmt_misc.automount',
  'systemd-binfmt.service',
  'systemd-pstore.service',
]

/** By package: a stack runs them as services of its own. chrony is not: machines of stacks without it have the time, too. */
export const MASKED_SERVICES: Readonly<Record<string, string>> = {
  'etcd-server': 'etcd.service',
  haproxy: 'haproxy.service',
  patroni: 'patroni.service',
  postgresql: 'postgresql.service',
  'prometheus-node-exporter': 'prometheus-node-exporter.service',
}

/** Subsystems of devices that nobody waits for. */
const UNTRIGGERED: readonly string[] = [
  'bdi',
  'cpu',
  'event_source',
  'leds',
  'pci_bus',
  'pci_express',
  'tty',
  'vc',
  'wakeup',
  'workqueue',
]

/** By path. Packages come afterwards and take them as they are. */
export const FILES: Readonly<Record<string, string>> = {
  '/boot/grub/grub.cfg': `set timeout=0
menuentry Linux {
  linux /vmlinuz root=PARTUUID=${ROOT_PARTITION} ro console=tty0 console=ttyS0 8250.nr_uarts=4 quiet
  initrd /initrd.img
}
`,
  '/etc/cloud/cloud.cfg.d/90_holdfast.cfg': `datasource_list: [NoCloud, None]
locale: C.UTF-8
ssh_genkeytypes: [ed25519]
system_info:
  network:
    renderers: [networkd]
# Each one takes its time at every boot: those that are for other clouds and other tools stay out.
cloud_init_modules:
  [seed_random, bootcmd, write-files, growpart, resizefs, disk_setup, mounts, set_hostname, update_hostname,
   update_etc_hosts, ca-certs, users-groups, ssh]
cloud_config_modules: [locale, set-passwords, apt-configure, ntp, timezone, runcmd]
cloud_final_modules:
  [package-update-upgrade-install, write-files-deferred, scripts-vendor, scripts-per-once, scripts-per-boot,
   scripts-per-instance, scripts-user, final-message, power-state-change]
`,
  '/etc/cloud/ds-identify.cfg': 'policy: enabled\n',
  '/etc/default/locale': 'LANG=C.UTF-8\n',
  '/etc/initramfs-tools/conf.d/holdfast': 'MODULES=list\nCOMPRESS=zstd\n',
  '/etc/initramfs-tools/modules': 'ahci\next4\nsd_mod\nsr_mod\nvirtio_blk\nvirtio_pci\nvirtio_scsi\n',
  '/etc/postgresql-common/createcluster.d/holdfast.conf': 'create_main_cluster = false\n',
  // Name servers of ours want the port.
  '/etc/systemd/resolved.conf.d/holdfast.conf': '[Resolve]\nDNSStubListener=no\n',
  // An address is enough to go on, and having none is no reason to wait for long, or to fail.
  '/etc/systemd/system/systemd-networkd-wait-online.service.d/holdfast.conf': `[Service]
ExecStart=
ExecStart=/bin/sh -c 'for _ in $$(seq 50); do [ -n "$$(ip -oneline address show up scope global -tentative)" ] && break; sleep 0.2; done'
`,
  // The seed may be on a disk that is still being looked at.
  '/etc/systemd/system/cloud-init-local.service.d/holdfast.conf': `[Service]
ExecStartPre=-udevadm settle --timeout=120
`,
  // Drivers that go with the processor are loaded by whoever needs them; the others left out have none.
  '/etc/systemd/system/systemd-udev-trigger.service.d/holdfast.conf': `[Service]
ExecStart=
ExecStart=-udevadm trigger --type=all --action=add ${UNTRIGGERED.map((name) => `--subsystem-nomatch=${name}`).join(' ')}
ExecStart=-udevadm trigger --action=add --subsystem-match=tty --sysname-match=ttyS* --sysname-match=hvc*
`,
}

/** None of the services of a stack is in it; libraries of theirs come with cloud-init, too. */
export function isPlain(packages: PackageList['packages']): boolean {
  return Object.keys(MASKED_SERVICES).every((name) => packages[name] === undefined)
}

/** All of it that decides what is in an image, for its hash. */
export function recipeText(): string {
  const units = [ENABLED_UNITS, MASKED_UNITS, MASKED_SERVICES]
  return JSON.stringify([EPOCH_SECONDS, FILES, BOOTSTRAP_OPTIONS, units, PARTITION_TABLE, FILE_SYSTEM_OPTIONS, FSTAB])
}
