import { expect, test } from 'vitest'
import { KUBEVIRT_DEFAULTS, kubevirtSource } from './kubevirt-source.ts'
import { nameServerEndpoints, skydnsSource } from './skydns-names.ts'
import { keepVmi, VIRTUAL_MACHINE_INSTANCES } from './virtual-machine-instance.ts'
import { APEX_DEFAULTS } from './zone-apex.ts'

function endpointsOf(key: string) {
  const [namespace, name] = key.split('/')
  const source = skydnsSource(kubevirtSource({ ...KUBEVIRT_DEFAULTS, zone: 'vm.Test' }), 'vm.Test')
  const addresses = { status: { interfaces: [{ name: 'lan', ipAddresses: ['192.0.2.1'] }] } }
  const object = keepVmi({ ...addresses, metadata: { name, namespace } })
  const [root] = source.apply({ resource: VIRTUAL_MACHINE_INSTANCES, key, object })
  return source.endpoints(root)
}

test('each name is a group of its own, so that CoreDNS does not add the names below it', () => {
  const { endpoints, problems } = endpointsOf('prod/web')
  expect(endpoints.map(({ dnsName, providerSpecific }) => [dnsName, providerSpecific])).toEqual([
    ['lan.web.prod.vm.test', [{ name: 'coredns/group', value: 'lan.web.prod.vm.test' }]],
    ['web.prod.vm.test', [{ name: 'coredns/group', value: 'web.prod.vm.test' }]],
  ])
  expect(problems).toEqual([])
})

test.each(['ns', 'apex'])('a machine "%s" of namespace "dns" cannot speak for the zone, and that is told', (name) => {
  const { endpoints, problems } = endpointsOf(`dns/${name}`)
  expect(endpoints).toEqual([])
  expect(problems).toEqual(
    [`lan.${name}.dns.vm.test`, `${name}.dns.vm.test`].map(
      (each) =>
        `Cannot publish "${each}" of virtualmachineinstance/dns/${name}: in etcd it would speak for the zone "vm.Test" itself; give the machine another name or namespace`,
    ),
  )
})

test('other machines of that namespace, and such names elsewhere, are as any', () => {
  expect(endpointsOf('dns/web').endpoints).toHaveLength(2)
  expect(endpointsOf('dns/dns').endpoints).toHaveLength(2)
  expect(endpointsOf('prod/ns').endpoints).toHaveLength(2)
})

test('name servers stand where SkyDNS has them, in lower case', () => {
  const apex = { ...APEX_DEFAULTS, zone: 'vm.Test', nameServerAddresses: ['192.0.2.53', '2001:db8::53'] }
  expect(nameServerEndpoints(apex).map(({ dnsName, recordType }) => [dnsName, recordType])).toEqual([
    ['ns.dns.vm.test', 'A'],
    ['ns.dns.vm.test', 'AAAA'],
  ])
})
