import { describe, expect, test } from 'vitest'
import { load } from './testing.ts'

const block = (sources: string, env = {}) =>
  load(`sources:\n${sources}`, { env, file: '/etc/holdfast/names.yaml' }).config.blocks[0]

describe('kubevirt', () => {
  test('needs nothing, and is then the zone vm', () => {
    const [source] = block('  - { type: kubevirt }').kubevirts
    expect(source).toMatchObject({ zone: 'vm.', nameServers: [], ttlSeconds: 30, addresses: 'all', namespaces: [] })
    expect(source.kube).toEqual({ env: {} })
  })

  test('takes the variables of KubeSecondaryDNS where they are named', () => {
    const text = '  - { type: kubevirt, domain: { env: DOMAIN }, name_server_ip: { env: NAME_SERVER_IP } }'
    const env = { DOMAIN: 'Example.org', NAME_SERVER_IP: '192.0.2.1, 2001:db8::1' }
    expect(block(text, env).kubevirts[0]).toMatchObject({
      zone: 'vm.example.org.',
      nameServers: ['192.0.2.1', '2001:db8::1'],
    })
    expect(block(text, { DOMAIN: '', NAME_SERVER_IP: '' }).kubevirts[0]).toMatchObject({ zone: 'vm.', nameServers: [] })
    expect(() => block(text, { DOMAIN: 'a b', NAME_SERVER_IP: 'here' })).toThrow(
      'Cannot load /etc/holdfast/names.yaml:2:31: sources[0].domain: DOMAIN is "a b"; expected a name such as example.org',
    )
  })

  test('finds the API server by the variables of its surroundings, and hands on no others', () => {
    const env = { KUBECONFIG: '/root/config', SECRET: 'hunter2' }
    const [source] = block('  - { type: kubevirt, kubeconfig: admin.conf, context: lab }', env).kubevirts
    expect(source.kube).toEqual({
      kubeconfig: '/etc/holdfast/admin.conf',
      context: 'lab',
      env: { KUBECONFIG: '/root/config' },
    })
  })
})

describe('kubernetes', () => {
  test('has the keys of ExternalDNS with underscores', () => {
    const [source] = block(`  - type: kubernetes
    from: [ingress, gateway-httproute]
    zones: [example.org]
    fqdn_template: "{{.Name}}.example.org"
    ingress_class: [nginx]
    label_filter: app=web`).kubernetes
    expect(source).toMatchObject({ from: ['ingress', 'gateway-httproute'], zones: ['example.org.'], ttlSeconds: 30 })
    expect(source.settings).toMatchObject({
      fqdnTemplates: ['{{.Name}}.example.org'],
      ingressClassNames: ['nginx'],
      labelFilter: 'app=web',
      excludeUnschedulable: true,
    })
  })

  test.each([
    ['{ type: kubernetes, zones: [a.test] }', 'sources[0] has no "from"'],
    ['{ type: kubernetes, from: [ingres], zones: [a.test] }', 'did you mean "ingress"?'],
    ['{ type: kubernetes, from: [ingress] }', 'sources[0] has no "zones"'],
    ['{ type: kubevirt, addresses: some }', 'sources[0].addresses'],
    ['{ type: kubevirt, name_server_ip: [ns1] }', 'sources[0].name_server_ip'],
  ])('%s is refused', (text, message) => {
    expect(() => block(`  - ${text}`)).toThrow(message)
  })
})
