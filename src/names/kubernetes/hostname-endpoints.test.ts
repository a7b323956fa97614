import { describe, expect, it } from 'vitest'
import { usableHostnames, usableTargets } from './hostname-check.ts'
import { targetType } from '../endpoints/targets.ts'
import { endpointsForHostname, targetSet } from './hostname-endpoints.ts'
import { ObjectProblems } from './object-problems.ts'

describe('endpointsForHostname', () => {
  it('makes one endpoint for each type, targets in order and each once', () => {
    const targets = ['lb.example.org.', '192.0.2.2', '2001:db8::1', '192.0.2.1', 'LB.example.org', '192.0.2.2']
    const shared = { dnsName: 'web.example.org', recordTTL: 60, setIdentifier: 'blue', providerSpecific: [] }
    const labels = { resource: 'ingress/default/web' }
    expect(
      endpointsForHostname('web.example.org.', targetSet(targets), {
        ...{ recordTTL: 60, setIdentifier: 'blue', resource: 'ingress/default/web' },
      }),
    ).toEqual([
      { ...shared, recordType: 'A', targets: ['192.0.2.1', '192.0.2.2'], labels },
      { ...shared, recordType: 'AAAA', targets: ['2001:db8::1'], labels },
      { ...shared, recordType: 'CNAME', targets: ['lb.example.org'], labels },
    ])
  })

  it('makes nothing without targets', () => {
    expect(endpointsForHostname('web.example.org', targetSet([]), {})).toEqual([])
  })

  it('takes what only looks like an address for a name', () => {
    expect(['10.09.15.25', '1.2.3', '1.2.3.4.5', 'fe80::1%eth0'].map(targetType)).toEqual([
      ...['CNAME', 'CNAME', 'CNAME', 'AAAA'],
    ])
  })
})

describe('usableHostnames', () => {
  const check = (names: readonly string[]) => {
    const problems = new ObjectProblems('service', 'default/web')
    return { names: usableHostnames(names, problems), problems: problems.sentences }
  }

  it('keeps names, wildcards and names of services; each once whatever its letter case', () => {
    const names = ['Web.example.org', 'web.example.org.', '*.example.org', '_sip._tcp.example.org', 'localhost']
    expect(check(names)).toEqual({
      names: ['Web.example.org', '*.example.org', '_sip._tcp.example.org', 'localhost'],
      problems: [],
    })
  })

  it('puts names in other scripts into ASCII', () => {
    expect(check(['bücher.example.org', '*.bücher.example.org', 'xn--bcher-kva.example.org'])).toEqual({
      names: ['xn--bcher-kva.example.org', '*.xn--bcher-kva.example.org'],
      problems: [],
    })
  })

  it('says of the others why they are left out', () => {
    const label = 'a'.repeat(64)
    const { names, problems } = check([
      ...['a..example.org', '.example.org', `${label}.org`, `${'a.'.repeat(127)}org`],
      ...['http://example.org', 'a b.org', 'a.*.org', 'a\\.b.org', 'a\u0000ü.org', 'good.example.org'],
    ])
    expect(names).toEqual(['good.example.org'])
    expect(problems).toHaveLength(9)
    expect(problems[0]).toBe(
      'Cannot use host name "a..example.org" of service default/web: expected no empty label (two dots in a row, or a dot in front); it is left out',
    )
    expect(problems[2]).toMatch(/: expected labels of at most 63 bytes; it is left out$/)
    expect(problems[3]).toMatch(/: expected a name of at most 255 bytes; it is left out$/)
    expect(problems[4]).toBe(
      'Cannot use host name "http://example.org" of service default/web: expected letters, digits, hyphens and underscores between the dots; it is left out',
    )
  })
})

describe('usableTargets', () => {
  it('keeps addresses and names, and tells of the others', () => {
    const problems = new ObjectProblems('service', 'default/web')
    const targets = ['192.0.2.1', '2001:db8::1', 'lb.example.org', 'fe80::1%eth0', '192.0.2.1:80', 'bücher.org']
    expect(Object.fromEntries(usableTargets(targets, problems))).toEqual({
      A: ['192.0.2.1'],
      AAAA: ['2001:db8::1'],
      CNAME: ['lb.example.org', 'xn--bcher-kva.org'],
    })
    expect(problems.sentences).toEqual([
      'Cannot use target "fe80::1%eth0" of service default/web: it is an address within one network link; it is left out',
      'Cannot use target "192.0.2.1:80" of service default/web: expected letters, digits, hyphens and underscores between the dots; it is left out',
    ])
  })
})
