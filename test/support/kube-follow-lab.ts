// A namespace of a test cluster, a follower of its config maps, and a proxy between the two.

import { KubeClient } from '../../src/kube/client.ts'
import { openConnection } from '../../src/kube/connection.ts'
import type { FollowOptions, FollowState } from '../../src/kube/follow.ts'
import type { Resource, Selection } from '../../src/kube/resource.ts'
import type { KubeCluster } from './kube-cluster.ts'
import { KubeFollower } from './kube-follower.ts'
import { KubeProxy } from './kube-proxy.ts'
import { until } from './until.ts'

export const CONFIG_MAPS: Resource = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
}

export class KubeFollowLab {
  readonly namespace: string
  readonly proxy: KubeProxy
  readonly #cluster: KubeCluster
  readonly #closing: (() => Promise<void> | void)[] = []
  #follower: KubeFollower | undefined

  static async start(cluster: KubeCluster, namespace: string): Promise<KubeFollowLab> {
    await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
    const connection = openConnection({ kubeconfig: cluster.kubeconfig }, {})
    const proxy = await KubeProxy.start(new URL(cluster.server).hostname, await connection.access())
    const lab = new KubeFollowLab(cluster, namespace, proxy)
    lab.#closing.push(() => connection.close())
    return lab
  }

  private constructor(cluster: KubeCluster, namespace: string, proxy: KubeProxy) {
    this.#cluster = cluster
    this.namespace = namespace
    this.proxy = proxy
    this.#closing.push(() => proxy.stop())
  }

  get follower(): KubeFollower {
    if (this.#follower === undefined) throw new Error('nobody follows yet')
    return this.#follower
  }

  /** Follows the config maps of the namespace through the proxy, and is up. */
  async follow(options: Partial<FollowOptions> = {}): Promise<KubeFollower> {
    const follower = this.begin({ resource: CONFIG_MAPS, namespace: this.namespace }, options)
    await follower.up()
    return follower
  }

  /** Through the proxy, or with a kubeconfig past it. */
  begin(selection: Selection, options: Partial<FollowOptions> = {}, kubeconfig?: string): KubeFollower {
    const connection = openConnection(kubeconfig === undefined ? { server: this.proxy.server } : { kubeconfig }, {})
    const follower = new KubeFollower(new KubeClient(connection), selection, options)
    this.#follower = follower
    this.#closing.unshift(
      () => follower.stop(),
      () => connection.close(),
    )
    return follower
  }

  down(): Promise<Extract<FollowState, { up: false }>> {
    return until('not following', () => this.follower.states.find((state) => !state.up), 15_000)
  }

  key(name: string): string {
    return `${this.namespace}/${name}`
  }

  get<Answer>(name: string): Promise<Answer> {
    return this.#cluster.request('GET', this.#path(name))
  }

  put(name: string): Promise<unknown> {
    return this.#cluster.request('POST', this.#path(), { metadata: { name } })
  }

  change(name: string, data: Readonly<Record<string, string>>): Promise<unknown> {
    return this.#cluster.request('PATCH', this.#path(name), { data })
  }

  remove(name: string): Promise<unknown> {
    return this.#cluster.request('DELETE', this.#path(name))
  }

  async stop(): Promise<void> {
    for (const close of this.#closing) await close()
  }

  #path(...name: readonly string[]): string {
    return ['/api/v1/namespaces', this.namespace, 'configmaps', ...name].join('/')
  }
}
