// A machine without the contents of its files: as data for machine.json, and all machines as a page to read.

import { hasSecrets } from '../../machine/content.ts'
import type { Machine, OnChange } from '../../machine/machine.ts'

export function describeMachine(machine: Machine): object {
  const { name, kind, address, packages, directories, files, services, ports } = machine
  const owners = [...directories, ...files].map(({ owner }) => owner)
  return {
    name,
    kind,
    address,
    packages,
    users: [...new Set([...services.map(({ user }) => user), ...owners])].toSorted(),
    ports,
    services,
    directories: directories.map((directory) => ({ ...directory, mode: octal(directory.mode) })),
    files: files.map(({ content, mode, ...file }) => ({
      ...file,
      mode: octal(mode),
      ...(hasSecrets(content) && { hasSecrets: true }),
    })),
  }
}

export function overview(machines: readonly Machine[]): string {
  const count = `${machines.length} ${machines.length === 1 ? 'machine' : 'machines'}`
  return [`${count}. Secrets are shown as ***.\n`, ...machines.map(machineText)].join('\n')
}

function machineText({ name, kind, address, packages, ports, services, files }: Machine): string {
  const rows = files.map(({ path, owner, mode, onChange }) => [octal(mode), owner, path, effect(onChange)])
  return [
    `${name} (${kind}) ${address}`,
    `  packages  ${packages.join(' ') || '-'}`,
    `  ports     ${ports.map(({ port, protocol, purpose }) => `${port}/${protocol} ${purpose}`).join(', ') || '-'}`,
    ...services.map(
      ({ name: service, user, once, command }) =>
        `  ${once ? 'step     ' : 'service  '} ${service} as ${user}: ${command.join(' ')}`,
    ),
    ...aligned(rows).map((line) => `  file      ${line}`),
    '',
  ].join('\n')
}

function effect(onChange: OnChange): string {
  if (onChange === 'nothing') return ''
  return 'reload' in onChange ? `reloads ${onChange.reload}` : `restarts ${onChange.restart}`
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column].length))) ?? []
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  )
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}
