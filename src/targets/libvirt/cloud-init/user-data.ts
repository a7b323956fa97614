// What cloud-init does at the first boot, in its own order: units of packages are masked, our own files written, users
// made, packages installed, files written that belong to them (`defer`), and then the commands, which start it all.

import type { Hardware } from '../../../machine/hardware.ts'
import type { Content } from '../../../machine/content.ts'
import type { Machine, MachineDirectory } from '../../../machine/machine.ts'
import { octal } from '../../../machine/octal.ts'
import { unitName } from '../../../machine/unit-name.ts'
import type { Placement } from '../placement.ts'
import { APPLY_PATH, APPLY_PROGRAM } from './apply-program.ts'
import { DATA_UNIT, dataDirectory } from './data-disk.ts'
import { beginFirstBoot, END_FIRST_BOOT } from './first-boot.ts'
import { ownFiles } from './own-files.ts'
import { renderUnits } from './units.ts'
import { ownFile, writeFile, writeOnce, type WrittenFiles } from './written-file.ts'
import { Once, type YamlMap, yamlContent } from './yaml-content.ts'

/** The longest of all, and the same for every machine: written once for all of them. */
const APPLY = new Once(writeFile(ownFile(APPLY_PATH, APPLY_PROGRAM), { defer: false }))

const UNITS = '/etc/systemd/system'

export function userData(machine: Machine, placement: Placement, written: WrittenFiles): Content {
  const { hardware } = machine
  return [
    '#cloud-config\n',
    ...yamlContent({
      hostname: machine.name,
      preserve_hostname: false,
      manage_etc_hosts: true,
      locale: 'C.UTF-8',
      ssh_pwauth: false,
      disable_root: true,
      users: [administrator(hardware), ...ownersOf(machine).map(systemUser)],
      bootcmd: [...maskCommands(machine), ...beginFirstBoot(machine, placement)],
      ...(hardware.installDependencies ? packages(machine, placement) : {}),
      write_files: [
        ...machine.files.map((file) => writeOnce(file, written, { defer: true })),
        ...renderUnits(machine, placement).map(({ name, text }) =>
          writeFile(ownFile(`${UNITS}/${name}`, text), { defer: false }),
        ),
        ...ownFiles(machine, placement).map((file) => writeOnce(file, written, { defer: false })),
        APPLY,
      ],
      runcmd: commands(machine, placement),
    }),
  ]
}

function administrator({ sshAdminUser, sshAdminPublicKey, adminUserPassword }: Hardware): YamlMap {
  return {
    name: sshAdminUser,
    groups: 'adm, sudo',
    sudo: 'ALL=(ALL) NOPASSWD:ALL',
    shell: '/bin/bash',
    ssh_authorized_keys: sshAdminPublicKey === undefined ? undefined : [sshAdminPublicKey.trim()],
    // For the console: SSH takes none.
    lock_passwd: adminUserPassword === undefined,
    plain_text_passwd: adminUserPassword,
  }
}

/** Packages that come later take them as they are. */
function ownersOf({ services, files, directories }: Machine): string[] {
  const users = [...services.map(({ user }) => user), ...[...directories, ...files].map(({ owner }) => owner)]
  return [...new Set(users)].filter((user) => user !== 'root')
}

function systemUser(name: string): YamlMap {
  // People who look after PostgreSQL become its user.
  const isPostgres = name === 'postgres'
  return {
    name,
    system: true,
    homedir: isPostgres ? '/var/lib/postgresql' : `/var/lib/${name}`,
    shell: isPostgres ? '/bin/bash' : '/usr/sbin/nologin',
  }
}

/** What packages would start by themselves. */
const PACKAGE_UNITS: Readonly<Record<string, readonly string[]>> = {
  'etcd-server': ['etcd'],
  patroni: ['patroni'],
  postgresql: ['postgresql'],
  haproxy: ['haproxy'],
  chrony: ['chrony'],
  'prometheus-node-exporter': ['prometheus-node-exporter'],
  'fluent-bit': ['fluent-bit'],
  'fluent-package': ['fluentd'],
}

/** Agents for logs may come with the image. */
const AGENTS: readonly string[] = ['fluent-bit', 'fluentd']

function maskCommands({ packages: names, services }: Machine): (readonly string[])[] {
  // PostgreSQL's has its version in its name.
  const ofPackages = names.flatMap((name) => PACKAGE_UNITS[name.replace(/^postgresql-\d+$/u, 'postgresql')] ?? [])
  const ofImage = services.map(({ name }) => name).filter((name) => AGENTS.includes(name))
  const units = [...new Set([...ofPackages, ...ofImage])].map((name) => `${name}.service`)
  return units.length === 0
    ? []
    : [['cloud-init-per', 'instance', 'holdfast-mask', 'systemctl', 'mask', '--now', ...units]]
}

function packages(machine: Machine, { kind }: Placement): YamlMap {
  return { package_update: true, packages: [...machine.packages, ...(kind === 'qemu' ? ['qemu-guest-agent'] : [])] }
}

/** What fails ends it: the first boot is not done then. */
function commands(machine: Machine, placement: Placement): (string | readonly string[])[] {
  const isPostgresVm = machine.kind === 'postgres' && placement.kind === 'qemu'
  const units = machine.services.map(({ name }) => unitName(name))
  return [
    'set -e',
    ['systemctl', 'daemon-reload'],
    ...(dataDirectory(machine, placement) === undefined ? [] : [['systemctl', 'start', DATA_UNIT]]),
    ...machine.directories.map(makeDirectory),
    // It was there before its rule.
    ...(isPostgresVm ? [['udevadm', 'trigger', '--action=change', '--subsystem-match=watchdog']] : []),
    ...(units.length === 0
      ? []
      : [
          ['systemctl', 'enable', ...units],
          ['systemctl', 'start', '--no-block', ...units],
        ]),
    ...(placement.kind === 'qemu' ? [['systemctl', 'start', '--no-block', 'qemu-guest-agent.service']] : []),
    END_FIRST_BOOT,
  ]
}

function makeDirectory({ path, owner, mode }: MachineDirectory): string[] {
  return ['install', '-d', '-o', owner, '-g', owner, '-m', octal(mode), path]
}
