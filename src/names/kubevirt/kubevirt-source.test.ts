import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KubeObject, ObjectChange } from '../../kube/resource.ts'
import type { EndpointSource, RootEndpoints } from '../kubernetes/endpoint-source.ts'
import { KUBEVIRT_DEFAULTS, kubevirtSource, type KubevirtSettings } from './kubevirt-source.ts'
import { keepVmi, VIRTUAL_MACHINE_INSTANCES } from './virtual-machine-instance.ts'

function source(settings: Partial<KubevirtSettings> = {}): EndpointSource {
  return kubevirtSource({ ...KUBEVIRT_DEFAULTS, zone: 'vm', ...settings })
}

function change(key: string, rest: object | undefined): ObjectChange {
  const [namespace, name] = key.split('/')
  const object = rest && keepVmi({ ...rest, metadata: { name, namespace } })
  return { resource: VIRTUAL_MACHINE_INSTANCES, key, object }
}

const LAN = { status: { interfaces: [{ name: 'lan', ipAddresses: ['192.0.2.1'] }] } }
const NOTHING: RootEndpoints = { endpoints: [], problems: [] }

describe('what is followed', () => {
  test('every namespace, or each that is named, by label', () => {
    const selections = (settings: Partial<KubevirtSettings>) =>
      source(settings).follows.map(({ namespace, labelSelector }) => [namespace, labelSelector])
    expect(selections({})).toEqual([[undefined, undefined]])
    expect(selections({ namespaces: ['prod', 'test', 'prod'], labelSelector: 'app=web' })).toEqual([
      ['prod', 'app=web'],
      ['test', 'app=web'],
    ])
  })

  test('only what names depend on is kept, and keeping it again makes no difference', () => {
    const [followed] = source().follows
    const object = {
      apiVersion: 'kubevirt.io/v1',
      metadata: { name: 'web', namespace: 'prod', uid: 'u', labels: { a: 'b' }, annotations: { c: 'd' } },
      spec: {
        domain: {},
        networks: [
          { name: 'lan', multus: {} },
          { name: 'default', pod: {} },
          { name: 'x', pod: {} },
        ],
      },
      status: {
        phase: 'Running',
        interfaces: [
          { name: 'lan', ipAddress: '192.0.2.1', ipAddresses: ['192.0.2.1', '192.0.2.2'], mac: 'm' },
          { name: 'old', ipAddress: '192.0.2.3' },
          { interfaceName: 'docker0', ipAddresses: ['172.17.0.1'] },
        ],
      },
    }
    const kept = {
      metadata: { name: 'web', namespace: 'prod' },
      spec: { networks: [{ name: 'default', pod: {} }] },
      status: {
        interfaces: [
          { name: 'lan', ipAddresses: ['192.0.2.1', '192.0.2.2'] },
          { name: 'old', ipAddresses: ['192.0.2.3'] },
          { ipAddresses: ['172.17.0.1'] },
        ],
      },
    }
    expect(followed.keep(object)).toEqual(kept)
    expect(followed.keep(followed.keep(object))).toEqual(kept)
    expect(followed.keep({ metadata: { name: 'new', namespace: 'prod' } })).toEqual({
      ...{ metadata: { name: 'new', namespace: 'prod' }, status: { interfaces: [] } },
    })
  })
})

describe('changes', () => {
  test('an object that comes, changes or goes is told of, one that stays the same is not', () => {
    const own = source()
    expect(own.apply(change('prod/web', LAN))).toEqual(['virtualmachineinstance/prod/web'])
    expect(own.endpoints('virtualmachineinstance/prod/web').endpoints).toHaveLength(2)
    expect(own.apply(change('prod/web', { ...LAN, spec: { running: true } }))).toEqual([])
    expect(own.apply(change('prod/web', undefined))).toEqual(['virtualmachineinstance/prod/web'])
    expect(own.endpoints('virtualmachineinstance/prod/web')).toEqual(NOTHING)
    expect(own.apply(change('prod/web', undefined))).toEqual([])
  })

  test('other kinds of objects mean nothing', () => {
    const own = source()
    const resource = { ...VIRTUAL_MACHINE_INSTANCES, plural: 'virtualmachines' }
    expect(own.apply({ ...change('prod/web', LAN), resource })).toEqual([])
  })
})

test('whatever the changes, the endpoints are those of the state they lead to', () => {
  const address = fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1', 'fe80::1', '127.0.0.1', 'none')
  const one = fc.record(
    {
      name: fc.constantFrom('lan', 'LAN', 'dmz', 'default', 'my nic', ''),
      ipAddress: address,
      ipAddresses: fc.array(address, { maxLength: 3 }),
    },
    { requiredKeys: [] },
  )
  const network = fc.record(
    { name: fc.constantFrom('lan', 'default'), pod: fc.constant({}), multus: fc.record({ default: fc.boolean() }) },
    { requiredKeys: ['name'] },
  )
  const object = fc.record({
    spec: fc.record({ networks: fc.array(network, { maxLength: 2 }) }),
    status: fc.record({ interfaces: fc.array(one, { maxLength: 4 }) }),
  })
  const key = fc.constantFrom('prod/web', 'prod/lan.web', 'test/web', 'prod/db')
  const steps = fc.array(fc.tuple(key, fc.option(object, { nil: undefined })), { maxLength: 20 })
  fc.assert(
    fc.property(steps, fc.constantFrom('all', 'first'), (changes, addresses) => {
      const followed = source({ addresses })
      const known = new Map<string, RootEndpoints>()
      const final = new Map<string, KubeObject | undefined>()
      for (const [each, rest] of changes) {
        const { object: kept } = change(each, rest)
        final.set(each, kept)
        for (const root of followed.apply(change(each, rest))) known.set(root, followed.endpoints(root))
      }
      const built = source({ addresses })
      for (const [each, kept] of final) {
        built.apply({ resource: VIRTUAL_MACHINE_INSTANCES, key: each, object: kept })
        const root = `virtualmachineinstance/${each}`
        expect(known.get(root) ?? NOTHING).toEqual(built.endpoints(root))
      }
    }),
  )
})
