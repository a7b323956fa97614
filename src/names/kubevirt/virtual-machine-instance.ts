// VirtualMachineInstances of KubeVirt: the part of them that names come from, and which of their interfaces count.

import type { KubeObject, Resource } from '../../kube/resource.ts'

export const VIRTUAL_MACHINE_INSTANCES: Resource = {
  group: 'kubevirt.io',
  version: 'v1',
  plural: 'virtualmachineinstances',
  kind: 'VirtualMachineInstance',
  namespaced: true,
}

export interface VirtualMachineInstance extends KubeObject {
  readonly spec?: { readonly networks?: readonly Network[] }
  readonly status?: { readonly interfaces?: readonly ReportedInterface[] }
}

interface Network {
  readonly name: string
  readonly pod?: object
  readonly multus?: { readonly default?: boolean }
}

/** As the guest agent or the network plugin reports it. */
interface ReportedInterface {
  /** Of its network; empty or missing for what only the guest knows of. */
  readonly name?: string
  readonly ipAddress?: string
  /** All of them, `ipAddress` first. */
  readonly ipAddresses?: readonly string[]
}

export interface VmiInterface {
  readonly name: string
  readonly addresses: readonly string[]
}

/** What is kept is the same when it is kept again. */
export function keepVmi(object: KubeObject): VirtualMachineInstance {
  const { metadata, spec, status }: VirtualMachineInstance = object
  const { name, namespace } = metadata
  const network = defaultNetwork(spec?.networks ?? [])
  const interfaces = (status?.interfaces ?? []).map((each) => ({
    ...(each.name !== undefined && { name: each.name }),
    ipAddresses: addressesOf(each),
  }))
  return {
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    ...(network !== undefined && { spec: { networks: [{ name: network.name, pod: {} }] } }),
    status: { interfaces },
  }
}

/** All but the one in the default network, as far as they have names. */
export function secondaryInterfaces({ spec, status }: VirtualMachineInstance): VmiInterface[] {
  const network = defaultNetwork(spec?.networks ?? [])
  return (status?.interfaces ?? [])
    .map((each) => ({ name: each.name ?? '', addresses: addressesOf(each) }))
    .filter(({ name }) => name !== '' && name !== network?.name)
}

/** The network of the pod, or the one that Multus puts in its place. */
function defaultNetwork(networks: readonly Network[]): Network | undefined {
  return networks.find(({ pod, multus }) => (pod ?? undefined) !== undefined || multus?.default === true)
}

function addressesOf({ ipAddress, ipAddresses }: ReportedInterface): readonly string[] {
  return ipAddresses ?? (ipAddress === undefined ? [] : [ipAddress])
}
