// Services with the objects their names depend on, indexed both ways: what a service needs is at hand, and a change of a
// pod, a slice or a node leads straight to the services that depend on it.
//
//   headless:          service ── slices (by label) ── pods (by reference) ── nodes
//   NodePort, Local:   service ── pods of its namespace that it selects ── nodes
//   NodePort:          service ── every node

import { isDeepStrictEqual } from 'node:util'
import { KeyGroups } from './key-groups.ts'
import { type Node, type NodeAddresses, nodeAddresses } from './node-object.ts'
import {
  type EndpointSlice,
  isHeadless,
  isLocalNodePort,
  type Pod,
  podKeyOf,
  type Service,
  selectsPod,
  serviceKeyOf,
} from './service-objects.ts'

export class ServiceRelations {
  readonly #excludeUnschedulable: boolean
  readonly #services = new Map<string, Service>()
  readonly #slices = new Map<string, EndpointSlice>()
  readonly #pods = new Map<string, Pod>()
  readonly #nodes = new Map<string, Node>()
  readonly #slicesOfService = new KeyGroups()
  readonly #slicesOfPod = new KeyGroups()
  readonly #podsOfNode = new KeyGroups()
  /** By namespace and by each label: a selector then looks at few pods, and a pod at few selectors. */
  readonly #podsOfLabel = new KeyGroups()
  /** Those whose traffic stays local, by the first label that they select. */
  readonly #localsOfLabel = new KeyGroups()
  readonly #onEveryNode = new Set<string>()
  #everyNode: NodeAddresses | undefined

  constructor({ excludeUnschedulable }: { readonly excludeUnschedulable: boolean }) {
    this.#excludeUnschedulable = excludeUnschedulable
  }

  service(key: string): Service | undefined {
    return this.#services.get(key)
  }

  setService(key: string, service: Service | undefined): void {
    const before = this.#services.get(key)
    if (before !== undefined) this.#localsOfLabel.delete(selectedLabel(key, before), key)
    this.#onEveryNode.delete(key)
    setOrDelete(this.#services, key, service)
    if (service === undefined) return
    if (isLocalNodePort(service)) this.#localsOfLabel.add(selectedLabel(key, service), key)
    else if (service.spec?.type === 'NodePort') this.#onEveryNode.add(key)
  }

  /** Each of these returns the keys of services that may have other names now. */
  setSlice(key: string, slice: EndpointSlice | undefined): readonly string[] {
    const before = this.#slices.get(key)
    if (isDeepStrictEqual(before, slice)) return []
    if (before !== undefined) this.#indexSlice(key, before, 'delete')
    setOrDelete(this.#slices, key, slice)
    if (slice !== undefined) this.#indexSlice(key, slice, 'add')
    return this.#headless([before, slice])
  }

  setPod(key: string, pod: Pod | undefined): readonly string[] {
    const before = this.#pods.get(key)
    if (isDeepStrictEqual(before, pod)) return []
    if (before !== undefined) this.#indexPod(key, before, 'delete')
    setOrDelete(this.#pods, key, pod)
    if (pod !== undefined) this.#indexPod(key, pod, 'add')
    return [...new Set([before, pod].flatMap((each) => (each === undefined ? [] : this.#dependentsOf(key, each))))]
  }

  setNode(name: string, node: Node | undefined): readonly string[] {
    if (isDeepStrictEqual(this.#nodes.get(name), node)) return []
    setOrDelete(this.#nodes, name, node)
    this.#everyNode = undefined
    const dependents = new Set(this.#onEveryNode)
    for (const podKey of this.#podsOfNode.of(name))
      for (const key of this.#dependentsOf(podKey, this.#pods.get(podKey))) dependents.add(key)
    return [...dependents]
  }

  slicesOf(serviceKey: string): readonly EndpointSlice[] {
    return Array.from(this.#slicesOfService.of(serviceKey), (key) => this.#slices.get(key)).filter(isThere)
  }

  pod(key: string): Pod | undefined {
    return this.#pods.get(key)
  }

  node(name: string): Node | undefined {
    return this.#nodes.get(name)
  }

  /** Pods of a service's namespace that it selects. */
  podsSelectedBy(serviceKey: string, service: Service): readonly Pod[] {
    return Array.from(this.#podsOfLabel.of(selectedLabel(serviceKey, service)), (key) => this.#pods.get(key))
      .filter(isThere)
      .filter((pod) => selectsPod(service, pod))
  }

  /** Of every node that takes work; put together once for all services. */
  get everyNode(): NodeAddresses {
    this.#everyNode ??= this.addressesOf(this.#nodes.values())
    return this.#everyNode
  }

  addressesOf(nodes: Iterable<Node>): NodeAddresses {
    return nodeAddresses([...nodes].filter(({ spec }) => !(this.#excludeUnschedulable && spec?.unschedulable === true)))
  }

  #indexSlice(key: string, slice: EndpointSlice, action: 'add' | 'delete'): void {
    const serviceKey = serviceKeyOf(slice)
    if (serviceKey !== undefined) this.#slicesOfService[action](serviceKey, key)
    for (const endpoint of slice.endpoints ?? []) {
      const podKey = podKeyOf(slice, endpoint)
      if (podKey !== undefined) this.#slicesOfPod[action](podKey, key)
    }
  }

  #indexPod(key: string, pod: Pod, action: 'add' | 'delete'): void {
    for (const label of labelsOf(key, pod)) this.#podsOfLabel[action](label, key)
    if (pod.spec?.nodeName !== undefined) this.#podsOfNode[action](pod.spec.nodeName, key)
  }

  #dependentsOf(podKey: string, pod: Pod | undefined): readonly string[] {
    if (pod === undefined) return []
    const slices = Array.from(this.#slicesOfPod.of(podKey), (key) => this.#slices.get(key))
    const candidates = labelsOf(podKey, pod).flatMap((label) => [...this.#localsOfLabel.of(label)])
    const locals = candidates.filter((key) => {
      const service = this.#services.get(key)
      return service !== undefined && selectsPod(service, pod)
    })
    return [...this.#headless(slices), ...locals]
  }

  #headless(slices: readonly (EndpointSlice | undefined)[]): readonly string[] {
    const keys = new Set(slices.map((slice) => (slice === undefined ? undefined : serviceKeyOf(slice))))
    return [...keys].filter(isThere).filter((key) => {
      const service = this.#services.get(key)
      return service !== undefined && isHeadless(service)
    })
  }
}

function setOrDelete<Value>(map: Map<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}

/** The namespace alone, and with each label. */
function labelsOf(podKey: string, { metadata }: Pod): string[] {
  const namespace = namespaceOf(podKey)
  const labels = Object.entries(metadata.labels ?? {}).map(([name, value]) => `${namespace} ${name}=${value}`)
  return [namespace, ...labels]
}

/** One of the labels that every pod of the service has. */
function selectedLabel(serviceKey: string, { spec }: Service): string {
  const [first] = Object.entries(spec?.selector ?? {})
  const namespace = namespaceOf(serviceKey)
  return first === undefined ? namespace : `${namespace} ${first[0]}=${first[1]}`
}

function namespaceOf(key: string): string {
  return key.slice(0, key.indexOf('/'))
}

function isThere<Value>(value: Value | undefined): value is Value {
  return value !== undefined
}
