// The documents' own examples as machines in their places: stack files in test/golden/libvirt/cloud-init, with credentials
// that are always the same.

import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Keyring, Site } from '../../src/clusters/site.ts'
import { Secret } from '../../src/lib/secret.ts'
import { plain } from '../../src/machine/content.ts'
import type { NetworkInterface } from '../../src/machine/hardware.ts'
import type { Machine } from '../../src/machine/machine.ts'
import { loadStack } from '../../src/stack/load-stack.ts'
import { renderMachines } from '../../src/stack/render-machines.ts'
import type { PlacedDisk, PlacedInterface, Placement } from '../../src/targets/libvirt/placement.ts'

export const EXAMPLES = join(import.meta.dirname, '../golden/libvirt/cloud-init')
const ENV = { CONSOLE_PASSWORD: 'given-console', POSTGRES_PASSWORD: 'given-postgres', ETCD_PASSWORD: 'given-etcd' }

export interface PlacedMachine {
  readonly machine: Machine
  readonly placement: Placement
}

export async function exampleMachines(example: string): Promise<PlacedMachine[]> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-example-'))
  try {
    copyFileSync(join(EXAMPLES, example, 'stack.yaml'), join(directory, 'stack.yaml'))
    writeCertificates(directory)
    const stack = await loadStack({ file: join(directory, 'stack.yaml'), env: ENV })
    const machines = renderMachines(stack, site(stack.name, stack.domain), { etcd: [], dnsFiles: [] })
    return machines.map((machine) => ({ machine, placement: placementOf(machine, stack.name) }))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function writeCertificates(directory: string): void {
  const make = (name: string, more: readonly string[]) =>
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
        ...['-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.pem`, ...more],
      ],
      { cwd: directory, stdio: 'pipe' },
    )
  make('authority', [])
  make('client', ['-CA', 'authority.pem', '-CAkey', 'authority.key', '-addext', 'extendedKeyUsage=clientAuth'])
}

function site(stack: string, domain: string): Site {
  return {
    stack,
    domain,
    path: (_, path) => path,
    program: ['/opt/holdfast/program/0123456789abcdef/node', '/opt/holdfast/program/0123456789abcdef/dist/main.js'],
    postgresVersion: '15',
    watchdog: 'automatic',
    keyring: KEYRING,
  }
}

const pem = (label: string, id: string) => `-----BEGIN ${label}-----\n${btoa(id)}\n-----END ${label}-----\n`

const KEYRING: Keyring = {
  secret: (id, given) => given ?? new Secret(`secret-of-${id}`),
  authority: plain(pem('CERTIFICATE', 'authority')),
  certificate: ({ id }) => ({
    certificate: plain(pem('CERTIFICATE', id)),
    key: [new Secret(pem('PRIVATE KEY', id))],
  }),
}

export function placementOf(machine: Machine, stack: string, kind: Placement['kind'] = 'qemu'): Placement {
  const { hardware, name, services } = machine
  const needsProgram = services.some(({ command }) => command[0].startsWith('/opt/holdfast/'))
  return {
    stack,
    domain: `${stack}-${name}`,
    uuid: '8d7bb1a6-6d0c-8c7a-9f0e-000000000001',
    instanceId: `${stack}-${name}-1`,
    kind,
    domainType: kind,
    arch: 'x86_64',
    interfaces: hardware.networks.map(placedInterface),
    disks: {
      root: disk(hardware.volumeId ?? '/images/root'),
      data: hardware.dataVolumeId === undefined ? undefined : disk(hardware.dataVolumeId),
      seed: { ...disk('/images/seed.iso'), format: 'raw', isOurs: true },
      program: needsProgram ? { ...disk('/images/program.iso'), format: 'raw', isOurs: true } : undefined,
    },
  }
}

function disk(path: string): PlacedDisk {
  return { path, format: 'qcow2', isOurs: false }
}

/** What libvirt would say of a network is made up here. */
function placedInterface({ attach, ip = '', ...given }: NetworkInterface, index: number): PlacedInterface {
  const host = ip.replace(/\d+$/u, '1')
  const { mac = `52:54:00:00:00:0${index}`, prefixLength = 24, gateway = host, dnsServers } = given
  return {
    attach: 'macvtap' in attach ? attach : { network: 'networkName' in attach ? attach.networkName : 'default' },
    ...{ mac, ip, prefixLength, gateway },
    dnsServers: dnsServers.length === 0 ? [gateway] : dnsServers,
  }
}
