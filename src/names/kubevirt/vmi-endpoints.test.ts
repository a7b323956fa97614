import { describe, expect, test } from 'vitest'
import type { VirtualMachineInstance } from './virtual-machine-instance.ts'
import { vmiEndpoints, type VmiNaming } from './vmi-endpoints.ts'

const NAMING: VmiNaming = { zone: 'vm', ttlSeconds: 60, addresses: 'all' }
const ROOT = 'virtualmachineinstance/prod/web'

function vmi(interfaces: Readonly<Record<string, readonly string[]>>, name = 'web'): VirtualMachineInstance {
  const reported = Object.entries(interfaces).map(([each, ipAddresses]) => ({ name: each, ipAddresses }))
  return { metadata: { name, namespace: 'prod' }, status: { interfaces: reported } }
}

/** `name type targets`, and what is wrong. */
function published(machine: VirtualMachineInstance, naming: Partial<VmiNaming> = {}): string[] {
  const { endpoints, problems } = vmiEndpoints(machine, ROOT, { ...NAMING, ...naming })
  return [...endpoints.map((each) => `${each.dnsName} ${each.recordType} ${each.targets.join(' ')}`), ...problems]
}

test('an endpoint knows the object it is from and how long it may be remembered', () => {
  expect(vmiEndpoints(vmi({ lan: ['192.0.2.1'] }), ROOT, NAMING).endpoints).toEqual(
    ['lan.web.prod.vm', 'web.prod.vm'].map((dnsName) => ({
      ...{ dnsName, recordType: 'A', targets: ['192.0.2.1'], recordTTL: 60 },
      ...{ labels: { resource: ROOT }, providerSpecific: [] },
    })),
  )
})

describe('addresses', () => {
  const machine = vmi({ lan: ['2001:db8::2', '192.0.2.2', '2001:DB8:0::1', '192.0.2.1', '192.0.2.2'] })

  test('all of them are published, whatever their order, each once', () => {
    expect(published(machine)).toEqual([
      'lan.web.prod.vm A 192.0.2.1 192.0.2.2',
      'lan.web.prod.vm AAAA 2001:db8::1 2001:db8::2',
      'web.prod.vm A 192.0.2.1 192.0.2.2',
      'web.prod.vm AAAA 2001:db8::1 2001:db8::2',
    ])
  })

  test('or the first of each family', () => {
    expect(published(machine, { addresses: 'first' })).toEqual([
      'lan.web.prod.vm A 192.0.2.2',
      'lan.web.prod.vm AAAA 2001:db8::2',
      'web.prod.vm A 192.0.2.2',
      'web.prod.vm AAAA 2001:db8::2',
    ])
  })

  test('those that mean nothing to others are left out, even if they are the first', () => {
    const useless = ['127.0.0.1', '0.0.0.0', '::', '::1', 'fe80::1', 'febf::1', '::ffff:192.0.2.1']
    expect(published(vmi({ lan: useless }))).toEqual([])
    expect(published(vmi({ lan: [...useless, '192.0.2.1'] }), { addresses: 'first' })).toEqual([
      'lan.web.prod.vm A 192.0.2.1',
      'web.prod.vm A 192.0.2.1',
    ])
    expect(published(vmi({ lan: ['fe8::1'] }))).toHaveLength(2)
  })

  test('what is no address is told, and the others count', () => {
    expect(published(vmi({ lan: ['192.0.2.300', '192.0.2.1'] }))).toEqual([
      'lan.web.prod.vm A 192.0.2.1',
      'web.prod.vm A 192.0.2.1',
      'Cannot publish address "192.0.2.300" of interface "lan" of VirtualMachineInstance "prod/web": it is neither IPv4 nor IPv6; it is left out',
    ])
  })
})

describe('the default name', () => {
  test('is that of the interface whose record is first as a text', () => {
    expect(published(vmi({ nic2: ['192.0.2.2'], nic10: ['192.0.2.10'] }))).toContain('web.prod.vm A 192.0.2.10')
    expect(published(vmi({ nic: ['192.0.2.1'], 'nic-a': ['192.0.2.2'] }))).toContain('web.prod.vm A 192.0.2.2')
    expect(published(vmi({ a: ['192.0.2.1'], B: ['192.0.2.2'] }))).toContain('web.prod.vm A 192.0.2.2')
  })

  test('has the addresses of one interface, which has an IPv4 address if any has', () => {
    const interfaces = { a: ['2001:db8::a'], b: ['192.0.2.2', '2001:db8::b'], c: ['192.0.2.3'] }
    expect(published(vmi(interfaces)).filter((line) => line.startsWith('web.'))).toEqual([
      'web.prod.vm A 192.0.2.2',
      'web.prod.vm AAAA 2001:db8::b',
    ])
    expect(published(vmi({ b: ['2001:db8::b'], a: ['2001:db8::a'] }))).toContain('web.prod.vm AAAA 2001:db8::a')
  })
})

describe('names', () => {
  test('are in lower case, and interfaces that differ only in case share one', () => {
    expect(published(vmi({ LAN: ['192.0.2.1'], lan: ['192.0.2.2'] }), { zone: 'vm.Example' })).toEqual([
      'lan.web.prod.vm.example A 192.0.2.1 192.0.2.2',
      'web.prod.vm.example A 192.0.2.1',
    ])
  })

  test('may have what DNS can serve although it is no host name', () => {
    expect(published(vmi({ _lan: ['192.0.2.1'], '-x-': ['192.0.2.2'] }))).toHaveLength(3)
  })

  test.each(['my nic', 'lan.', '.lan', '*', '@', 'lan;', 'lan\nx', 'größe', 'a\\.b'])(
    'no interface is called %j, and the others count',
    (name) => {
      const [first, second, problem] = published(vmi({ [name]: ['192.0.2.1'], lan: ['192.0.2.2'] }))
      expect([first, second]).toEqual(['lan.web.prod.vm A 192.0.2.2', 'web.prod.vm A 192.0.2.2'])
      expect(problem).toBe(
        `Cannot name interface ${JSON.stringify(name)} of VirtualMachineInstance "prod/web": ${JSON.stringify(`${name}.web.prod.vm`)} is no domain name; expected letters, digits, "-" and "_"; it is left out`,
      )
    },
  )

  test('have labels of 63 octets and 255 in all, as on the wire', () => {
    const longest = 'x'.repeat(63)
    expect(published(vmi({ [longest]: ['192.0.2.1'] }))).toHaveLength(2)
    expect(published(vmi({ [`${longest}x`]: ['192.0.2.1'] }))).toEqual([
      expect.stringContaining('has more than 63 octets; it is left out'),
    ])
    const machine = (length: number) => [longest, longest, longest, 'y'.repeat(length)].join('.')
    const room = 253 - `n.${machine(0)}.prod.vm`.length
    expect(published(vmi({ n: ['192.0.2.1'] }, machine(room)))).toHaveLength(2)
    expect(published(vmi({ n: ['192.0.2.1'] }, machine(room + 1)))).toEqual([
      expect.stringContaining('has more than 255 octets; it is left out'),
    ])
  })

  test('are no problem where there is nothing to be named', () => {
    expect(published(vmi({ 'my nic': [], default: ['fe80::1'] }))).toEqual([])
  })
})
