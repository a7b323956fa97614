import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { PlacedInterface, Placement } from '../placement.ts'
import { networkConfig } from './network-config.ts'

function on(ip: string, gateway: string | undefined): PlacedInterface {
  return { attach: { network: 'lan' }, mac: '52:54:00:00:00:01', ip, prefixLength: 24, gateway, dnsServers: [] }
}

test('each family has one default route, that of the first interface that has one', () => {
  const interfaces = [
    on('10.0.0.4', undefined),
    on('fd00::4', 'fd00::1'),
    on('10.1.0.4', '10.1.0.1'),
    on('10.2.0.4', '10.2.0.1'),
    on('fd01::4', 'fd01::1'),
  ]
  const placement = { interfaces, kind: 'qemu' } as unknown as Placement
  const { ethernets } = parse(networkConfig(placement)) as { ethernets: Record<string, object> }
  const routes = Object.entries(ethernets).filter(([, each]) => 'routes' in each || 'gateway6' in each)
  expect(routes).toMatchObject([
    ['eth1', { gateway6: 'fd00::1' }],
    ['eth2', { routes: [{ to: '0.0.0.0/0', via: '10.1.0.1' }] }],
  ])
})
