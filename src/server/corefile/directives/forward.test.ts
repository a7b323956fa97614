import { describe, expect, test } from 'vitest'
import { block, load, refusal } from '../testing.ts'

describe('forward', () => {
  test('has the defaults of CoreDNS', () => {
    expect(block('forward . 192.0.2.1').forwards).toEqual([
      {
        from: '.',
        to: [{ host: '192.0.2.1', port: 53 }],
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
      },
    ])
  })

  test('takes addresses in every notation, and the servers of a resolv.conf', () => {
    const files = {
      '/etc/resolv.conf': '# x\nsearch a.example\nnameserver 192.0.2.7\r\n nameserver\tfe80::1%eth0\noptions ndots:5\n',
    }
    const text =
      'forward . 192.0.2.1 192.0.2.2:54 2001:db8::1 [2001:db8::2] [2001:db8::3]:55 dns://192.0.2.3:56 /etc/resolv.conf'
    expect(block(text, files).forwards[0].to).toEqual([
      { host: '192.0.2.1', port: 53 },
      { host: '192.0.2.2', port: 54 },
      { host: '2001:db8::1', port: 53 },
      { host: '2001:db8::2', port: 53 },
      { host: '2001:db8::3', port: 55 },
      { host: '192.0.2.3', port: 56 },
      { host: '192.0.2.7', port: 53 },
      { host: 'fe80::1%eth0', port: 53 },
    ])
  })

  test('takes every option', () => {
    const text = `forward Corp.Example 192.0.2.1 {
      except a.corp.example 10.0.0.0/23
      policy sequential
      force_tcp
      prefer_udp
      max_fails 0
      expire 1m
      health_check 1s no_rec domain Probe.Example
      max_concurrent 1000
      failover SERVFAIL refused
      failfast_all_unhealthy_upstreams
    }`
    expect(block(text).forwards[0]).toMatchObject({
      from: 'corp.example.',
      except: ['a.corp.example.', '0.0.10.in-addr.arpa.', '1.0.10.in-addr.arpa.'],
      policy: 'sequential',
      forceTcp: true,
      preferUdp: true,
      maxFails: 0,
      expireMs: 60_000,
      healthCheckMs: 1000,
      healthCheckName: 'probe.example.',
      healthCheckRecursionDesired: false,
      maxConcurrent: 1000,
      failoverRcodes: [2, 5],
      failfastAllUnhealthy: true,
    })
  })

  test('stands several times, and says what has no effect', () => {
    const { config, notices } = load(
      '. {\nforward a. ::1\nforward 10.0.0.0/23 ::1 {\n max_age 1h\n read_timeout 3s\n}\n}',
    )
    expect(config.blocks[0].forwards.map(({ from }) => from)).toEqual(['a.', '0.0.10.in-addr.arpa.'])
    expect(notices).toEqual([
      {
        at: 'Corefile:3:9',
        message: '"10.0.0.0/23" is several zones, only 0.0.10.in-addr.arpa. is forwarded, as in CoreDNS',
      },
      { at: 'Corefile:4:2', message: '"max_age" of forward has no effect' },
      { at: 'Corefile:5:2', message: '"read_timeout" of forward has no effect' },
    ])
  })

  test.each([
    ['forward .', '2:1: "forward" has 1 argument; expected forward FROM TO...'],
    ['forward . tls://192.0.2.1', '2:11: upstream "tls://192.0.2.1" is not supported yet; expected a plain address'],
    [
      'forward . dns.example',
      '2:11: "dns.example" is neither an address nor a readable file (ENOENT: no such file); expected one of them',
    ],
    ['forward . 192.0.2.1:0', '2:11: "192.0.2.1:0" is neither an address'],
    ['forward . 192.0.2.1 {\n tls\n}', '3:2: "tls" is not supported yet'],
    ['forward . 192.0.2.1 {\n next NXDOMAIN\n}', '3:2: "next" is not supported yet'],
    [
      'forward . 192.0.2.1 {\n policy fastest\n}',
      '3:9: unknown policy "fastest"; expected random, round_robin, sequential',
    ],
    ['forward . 192.0.2.1 {\n max_fails -1\n}', '3:12: "-1" is not a number from 0 to'],
    ['forward . 192.0.2.1 {\n health_check 1s domain\n}', '3:18: "domain" is no option of health_check'],
    ['forward . 192.0.2.1 {\n failover NOERROR\n}', '3:11: NOERROR is no failure'],
    ['forward . 192.0.2.1 {\n max_fail 1\n}', '3:2: unknown option "max_fail" of forward; did you mean "max_fails"?'],
    ['forward . empty', '2:11: "empty" names no server; expected a line "nameserver ADDRESS"'],
  ])('%j is refused', (directive, message) => {
    expect(refusal(`. {\n${directive}\n}`, { empty: 'nameserver x\n' })).toContain(`Cannot load Corefile:${message}`)
  })
})
