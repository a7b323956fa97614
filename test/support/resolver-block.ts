// Server blocks with resolver directives for tests, at CoreDNS's defaults.

import type { CacheConfig, ForwardConfig, ServerBlock } from '../../src/server/config.ts'

export function forwardTo(ports: readonly number[], parts: Partial<ForwardConfig> = {}): ForwardConfig {
  return {
    from: '.',
    to: ports.map((port) => ({ host: '127.0.0.1', port })),
    except: [],
    policy: 'random',
    forceTcp: false,
    preferUdp: false,
    maxFails: 2,
    expireMs: 10_000,
    healthCheckMs: 500,
    healthCheckName: '.',
    healthCheckRecursionDesired: true,
    maxConcurrent: 0,
    failoverRcodes: [],
    failfastAllUnhealthy: false,
    ...parts,
  }
}

export function cacheConfig(parts: Partial<CacheConfig> = {}): CacheConfig {
  return {
    zones: [],
    successCapacity: 9984,
    successMaxTtlSeconds: 3600,
    successMinTtlSeconds: 5,
    denialCapacity: 9984,
    denialMaxTtlSeconds: 1800,
    denialMinTtlSeconds: 5,
    prefetchAmount: 0,
    prefetchDurationMs: 60_000,
    prefetchPercentage: 10,
    servfailTtlSeconds: 5,
    serveStaleMs: 0,
    serveStaleVerify: false,
    keepTtl: false,
    disableSuccess: [],
    disableDenial: [],
    ...parts,
  }
}

export function serverBlock(parts: Partial<ServerBlock>): ServerBlock {
  return {
    at: 'Corefile:1',
    zones: ['.'],
    port: 53,
    bind: [],
    root: undefined,
    files: [],
    autos: [],
    skydns: [],
    etcdZones: [],
    patronis: [],
    kubevirts: [],
    kubernetes: [],
    ptr: undefined,
    forwards: [],
    alternates: [],
    cache: undefined,
    loadbalance: true,
    nsid: undefined,
    udpBytes: 1232,
    minimalAny: true,
    log: [],
    errors: true,
    health: undefined,
    lameduckMs: 0,
    ready: undefined,
    prometheus: undefined,
    reloadMs: 0,
    loop: false,
    ...parts,
  }
}
