// The documents' own examples, and one with every option: stack files in test/golden/libvirt/examples, rendered by the same
// place that `holdfast render` and `holdfast up` use, on a hypervisor that is made of data.

import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Site } from '../../src/clusters/site.ts'
import type { NetworkInterface } from '../../src/machine/hardware.ts'
import type { Machine } from '../../src/machine/machine.ts'
import { stackDirectory } from '../../src/stack/directory.ts'
import { StackKeyring } from '../../src/stack/keyring.ts'
import { loadStack } from '../../src/stack/load-stack.ts'
import { LibvirtPlace } from '../../src/stack/places/libvirt-place.ts'
import { renderMachines } from '../../src/stack/render-machines.ts'
import { machineSpecs } from '../../src/stack/stack.ts'
import type { PlacedDisk, PlacedInterface, Placement } from '../../src/targets/libvirt/placement.ts'
import type { TargetTexts } from '../../src/targets/render/render.ts'
import { type HypervisorData, hypervisorOf, network, pool, volume } from './hypervisor-data.ts'

export const EXAMPLES = join(import.meta.dirname, '../golden/libvirt/examples')

const URI = 'qemu:///system'
const ENV = {
  CONSOLE_PASSWORD: 'given-console',
  POSTGRES_PASSWORD: 'given-postgres',
  ETCD_PASSWORD: 'given-etcd',
  SHARED_KEY: 'given-shared-key',
}

/** What the examples take for granted. */
const HYPERVISOR: HypervisorData = {
  networks: [
    network('mynetwork', { uuid: 'e7a4b9d2-3c55-4f0e-9a77-0f6f5f1d2c11' }),
    network('default', {
      uuid: 'b10c1bda-f608-4780-9cfb-574c2271a193',
      addresses: [
        { address: '192.168.122.1', prefixLength: 24 },
        { address: 'fd00:121::1', prefixLength: 64 },
      ],
    }),
  ],
  hostInterfaces: ['ens3', 'lan1', 'lan2'],
  pools: [pool('default'), pool('etcd'), pool('coredns'), pool('os')],
  volumes: [
    volume('os', 'ubuntu'),
    volume('coredns', 'coredns-1'),
    ...['etcd-1', 'etcd-2', 'etcd-3', 'etcd-1-data'].map((name) => volume('etcd', name)),
    ...['postgres-1', 'postgres-2', 'postgres-3', 'postgres-1-data'].map((name) => volume('default', name)),
    ...['ready-etcd-1', 'ready-etcd-1-data'].map((name) => volume('default', name)),
  ],
}

export interface PlacedMachine {
  readonly machine: Machine
  readonly placement: Placement
}

export interface RenderedExample {
  /** What `holdfast render` writes, before anything is made: without secrets, and without what is still to be issued. */
  readonly texts: TargetTexts
  /** What `holdfast up` makes of it. */
  readonly machines: readonly PlacedMachine[]
}

export async function renderExample(example: string): Promise<RenderedExample> {
  return withExample(example, async ({ site, place, clusterMachines, keyring }) => {
    const machines = () => clusterMachines().map((machine) => place.complete(machine, site))
    const texts = await place.describe(machines())
    await keyring.issue()
    return { texts, machines: await placed(machines(), place) }
  })
}

/** Of our own program, which each change of it makes another. */
export function withoutHash(text: string): string {
  return text.replaceAll(/(?<=\/program\/|holdfast-program-|install-program\.sh )[\da-f]{16}/gu, 'HASH')
}

/** Only what clusters give their machines, for tests of a part. */
export async function exampleMachines(example: string): Promise<readonly PlacedMachine[]> {
  return withExample(example, ({ place, clusterMachines }) => placed(clusterMachines(), place))
}

async function placed(machines: readonly Machine[], place: LibvirtPlace): Promise<PlacedMachine[]> {
  const placements = await place.placements(machines)
  return machines.map((machine) => ({ machine, placement: placements.get(machine.name) as Placement }))
}

interface OpenExample {
  readonly site: Site
  readonly place: LibvirtPlace
  readonly keyring: StackKeyring
  readonly clusterMachines: () => Machine[]
}

async function withExample<T>(example: string, use: (open: OpenExample) => Promise<T>): Promise<T> {
  const state = mkdtempSync(join(tmpdir(), 'holdfast-example-'))
  try {
    const file = join(state, 'stack.yaml')
    copyFileSync(join(EXAMPLES, example, 'stack.yaml'), file)
    writeCredentials(state)
    const stack = await loadStack({ file, env: ENV })
    const directory = stackDirectory(state, stack.name)
    const { name, domain, authority } = stack
    const keyring = await StackKeyring.open(directory.secrets, {
      stack: name,
      ...(authority !== undefined && { authority }),
    })
    const place = new LibvirtPlace(
      {
        ...{ stack: name, stackId: crypto.randomUUID(), directory, isRoot: false, env: {}, hypervisors: [URI] },
        hardware: new Map(machineSpecs(stack).map((spec) => [spec.name, spec.hardware])),
        report: () => {},
        stopSignal: () => new AbortController().signal,
      },
      () => hypervisorOf({ ...HYPERVISOR, uri: URI }),
    )
    const { version: postgresVersion } = await place.postgresVersion(stack)
    const site: Site = { stack: name, domain, ...place.site(postgresVersion), postgresVersion, keyring }
    const clusterMachines = () => renderMachines(stack, site, { etcd: [], dnsFiles: [] })
    return await use({ site, place, keyring, clusterMachines })
  } finally {
    rmSync(state, { recursive: true })
  }
}

/** Everything that the stack files name. Certificates are new each time. */
function writeCredentials(directory: string): void {
  const make = (name: string, more: readonly string[]) =>
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '40000'],
        ...['-subj', `/O=${name}`, '-keyout', `${name}.key`, '-out', `${name}.crt`, ...more],
      ],
      { cwd: directory, stdio: 'pipe' },
    )
  const signed = ['-CA', 'etcd_ca.crt', '-CAkey', 'etcd_ca.key', '-addext', 'basicConstraints=critical,CA:FALSE']
  make('etcd_ca', [])
  make('postgres_ca', [])
  make('client', [...signed, '-addext', 'extendedKeyUsage=clientAuth'])
  for (const index of [1, 2, 3]) {
    const addresses = ['127.0.0.1', `192.168.121.${index + 3}`, `192.168.21.${index + 199}`]
    const names = ['-addext', `subjectAltName=${addresses.map((address) => `IP:${address}`).join(',')}`]
    make(`etcd_server_${index}`, [...signed, ...names, '-addext', 'extendedKeyUsage=serverAuth,clientAuth'])
  }
  writeFileSync(join(directory, 'packages.asc'), PACKAGE_KEY)
}

const PACKAGE_KEY = `-----BEGIN PGP PUBLIC KEY BLOCK-----

${btoa('no key at all')}
-----END PGP PUBLIC KEY BLOCK-----
`

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
