// The objects of a run, as the API takes them: ingresses and services that share a set of host names, so that names move and
// are disputed, and virtual machines. Beside them many ingresses that never change: nobody may lose one of these.

import type { Kind } from './history.ts'

export const ZONE = 'kube.test'
export const VM_ZONE = 'vm'
const NAMESPACE = 'default'

/** More than one page of a list. */
export const STEADY_COUNT = 520

export const HOSTS = Array.from({ length: 30 }, (_, i) => `h${i}.${ZONE}.`)

export interface Subject {
  readonly kind: Kind
  readonly name: string
}

export const SUBJECTS: readonly Subject[] = [...many('ingress', 14), ...many('service', 6), ...many('vmi', 12)]

export const STEADY: readonly Subject[] = Array.from({ length: STEADY_COUNT }, (_, i) => ({
  kind: 'ingress' as const,
  name: `steady${i}`,
}))

export function steadyHost({ name }: Subject): string {
  return `${name}.${ZONE}.`
}

/** Names of a virtual machine's interfaces, the first of which has the machine's own name as well. */
export function machineNames({ name }: Subject, interfaces: readonly string[]): readonly string[] {
  return [name, ...interfaces.map((each) => `${each}.${name}`)].map((each) => `${each}.${NAMESPACE}.${VM_ZONE}.`)
}

function many(kind: Kind, count: number): Subject[] {
  return Array.from({ length: count }, (_, i) => ({ kind, name: `${kind}${i}` }))
}

const COLLECTIONS: Readonly<Record<Kind, string>> = {
  ingress: `/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/ingresses`,
  service: `/api/v1/namespaces/${NAMESPACE}/services`,
  vmi: `/apis/kubevirt.io/v1/namespaces/${NAMESPACE}/virtualmachineinstances`,
}

export function collectionPath({ kind }: Subject): string {
  return COLLECTIONS[kind]
}

export function objectPath(subject: Subject): string {
  return `${collectionPath(subject)}/${subject.name}`
}

const PREFIX = 'external-dns.alpha.kubernetes.io'
/** Which write an object comes from. */
export const SEQ = 'chaos/seq'

/** `null` takes an annotation away. */
export function hostObject(
  { kind, name }: Subject,
  seq: number,
  hosts: readonly string[],
  target: string | null,
): object {
  const names = hosts.map((host) => host.slice(0, -1))
  const annotations = { [SEQ]: String(seq), [`${PREFIX}/target`]: target }
  if (kind === 'ingress')
    return {
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' },
      metadata: { name, annotations },
      spec: { rules: names.map((host) => ({ host })) },
    }
  return {
    ...{ apiVersion: 'v1', kind: 'Service' },
    metadata: { name, annotations: { ...annotations, [`${PREFIX}/hostname`]: names.join(',') } },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  }
}

export function machine({ name }: Subject): object {
  return {
    ...{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance' },
    metadata: { name },
    spec: { networks: [{ name: 'default', pod: {} }] },
  }
}

/** The status of a machine: addresses by interface. */
export function machineStatus(seq: number, interfaces: ReadonlyMap<string, string>): object {
  const own = { name: 'default', ipAddress: '192.0.2.1', ipAddresses: ['192.0.2.1'] }
  const others = Array.from(interfaces, ([name, address]) => ({ name, ipAddress: address, ipAddresses: [address] }))
  return { status: { seq: String(seq), interfaces: [own, ...others] } }
}
