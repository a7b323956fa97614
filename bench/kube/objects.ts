// The ingresses and virtual machines of the cluster, about as large as those of real clusters, made once for all subjects.
// Each object has a number in its status, written as an address of 10.0.0.0/8; a change gives it the next one.

import type { KubeCluster } from '../../test/support/kube-cluster.ts'
import { addressOf } from '../live/prober.ts'

export type Kind = 'ingress' | 'vmi'

export const INGRESS_ZONE = 'bench.example'
const NAMESPACES = 10
const REQUESTS_AT_ONCE = 16

interface KindOfObject {
  readonly collection: string
  name(i: number): string
  manifest(i: number): object
  status(value: number): object
}

const KINDS: Readonly<Record<Kind, KindOfObject>> = {
  ingress: {
    collection: 'apis/networking.k8s.io/v1/namespaces/NAMESPACE/ingresses',
    name: (i) => `web-${i}.${INGRESS_ZONE}.`,
    manifest: ingress,
    status: (value) => ({ loadBalancer: { ingress: [{ ip: addressOf(value) }] } }),
  },
  vmi: {
    collection: 'apis/kubevirt.io/v1/namespaces/NAMESPACE/virtualmachineinstances',
    name: (i) => `nic1.vm-${i}.${namespaceOf(i)}.vm.`,
    manifest: virtualMachine,
    status: (value) => ({ interfaces: interfaces(value) }),
  },
}

/** Numbers that were given out, over all kinds. */
export class Numbers {
  #last = 0

  next(): number {
    return ++this.#last
  }
}

/** All objects of a kind. */
export class Population {
  readonly count: number
  readonly #kind: KindOfObject
  readonly #cluster: KubeCluster
  readonly #numbers: Numbers
  readonly #values: number[]

  constructor(kind: Kind, cluster: KubeCluster, numbers: Numbers, count: number) {
    this.count = count
    this.#kind = KINDS[kind]
    this.#cluster = cluster
    this.#numbers = numbers
    this.#values = Array.from({ length: count }, () => 0)
  }

  async create(): Promise<void> {
    await inParallel(this.count, async (i) => {
      await this.#cluster.request('POST', `/${this.#collection(i)}`, this.#kind.manifest(i))
      await this.change(i)
    })
  }

  /** Resolves with the new number when the API server has acknowledged it. */
  async change(i: number): Promise<number> {
    const { name } = this.#metadata(i)
    const value = this.#numbers.next()
    const patch = { status: this.#kind.status(value) }
    await this.#cluster.request('PATCH', `/${this.#collection(i)}/${name}/status`, patch)
    this.#values[i] = Math.max(this.#values[i], value)
    return value
  }

  /** The name that has the number. */
  name(i: number): string {
    return this.#kind.name(i)
  }

  value(i: number): number {
    return this.#values[i]
  }

  #metadata(i: number): { name: string; namespace: string } {
    return (this.#kind.manifest(i) as { metadata: { name: string; namespace: string } }).metadata
  }

  #collection(i: number): string {
    return this.#kind.collection.replace('NAMESPACE', namespaceOf(i))
  }
}

export async function createNamespaces(cluster: KubeCluster): Promise<void> {
  for (let i = 0; i < NAMESPACES; i++)
    await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: namespaceOf(i) } })
}

async function inParallel(count: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, worker))
}

function namespaceOf(i: number): string {
  return `team-${i % NAMESPACES}`
}

function ingress(i: number): object {
  const host = `web-${i}.${INGRESS_ZONE}`
  const backend = { service: { name: `web-${i}`, port: { number: 8080 } } }
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name: `web-${i}`,
      namespace: namespaceOf(i),
      labels: { app: `web-${i}`, 'app.kubernetes.io/managed-by': 'bench' },
      annotations: { 'nginx.ingress.kubernetes.io/proxy-body-size': '16m' },
    },
    spec: {
      ingressClassName: 'nginx',
      tls: [{ hosts: [host], secretName: `web-${i}-tls` }],
      rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
    },
  }
}

function virtualMachine(i: number): object {
  const disk = (name: string) => ({ name, disk: { bus: 'virtio' } })
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name: `vm-${i}`,
      namespace: namespaceOf(i),
      labels: { 'kubevirt.io/domain': `vm-${i}`, 'kubevirt.io/nodeName': `node-${i % 50}` },
      annotations: { 'kubevirt.io/latest-observed-api-version': 'v1', 'kubevirt.io/vm-generation': '1' },
      finalizers: ['kubevirt.io/virtualMachineControllerFinalize'],
    },
    spec: {
      architecture: 'amd64',
      domain: {
        cpu: { cores: 2, sockets: 1, threads: 1, model: 'host-model' },
        devices: {
          disks: [disk('root'), disk('cloudinit'), disk('data')],
          interfaces: [
            { name: 'default', masquerade: {}, model: 'virtio' },
            { name: 'nic1', bridge: {}, model: 'virtio', macAddress: '02:00:00:00:00:01' },
          ],
          rng: {},
        },
        features: { acpi: { enabled: true }, smm: { enabled: true } },
        firmware: { bootloader: { efi: {} }, uuid: '5d307ca9-b3ef-428c-8861-06e72d69f223' },
        machine: { type: 'q35' },
        memory: { guest: '4Gi' },
        resources: { requests: { memory: '4Gi', cpu: '1' }, limits: { memory: '5Gi' } },
      },
      networks: [
        { name: 'default', pod: {} },
        { name: 'nic1', multus: { networkName: 'lab/vlan-100' } },
      ],
      volumes: [
        { name: 'root', dataVolume: { name: `vm-${i}-root` } },
        { name: 'cloudinit', cloudInitNoCloud: { userData: '#cloud-config\npackage_update: true\n'.repeat(20) } },
        { name: 'data', persistentVolumeClaim: { claimName: `vm-${i}-data` } },
      ],
      terminationGracePeriodSeconds: 180,
      evictionStrategy: 'LiveMigrate',
    },
  }
}

/** As the guest agent reports them. */
function interfaces(value: number): object[] {
  const reported = (name: string, ipAddress: string, n: number) => ({
    name,
    ipAddress,
    ipAddresses: [ipAddress],
    mac: `02:00:00:00:00:0${n}`,
    interfaceName: `eth${n}`,
    infoSource: 'domain, guest-agent',
    queueCount: 1,
  })
  return [reported('default', '172.16.0.2', 0), reported('nic1', addressOf(value), 1)]
}
