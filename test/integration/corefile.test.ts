// Corefiles in the shape in which they are in use, on loopback addresses, with real name servers upstream.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TYPE } from '../../src/dns/types.ts'
import { dig, type HoldfastProcess, metric, Sandbox, zoneText } from '../support/holdfast-process.ts'
import { brief, lookup, untilAnswer } from '../support/lookup.ts'
import type { RunningServer } from '../support/name-server.ts'
import { bind, nsd } from '../support/name-servers.ts'
import { freePort } from '../support/ports.ts'

describe('a resolver for a company: zones, a forwarded domain, a cache, and an alternate for the rest', () => {
  const sandbox = new Sandbox()
  const upstreams: RunningServer[] = []
  let server: HoldfastProcess
  let port: number
  let metrics: number
  let health: number

  beforeAll(async () => {
    const corp = sandbox.write('corp', zoneText(['intranet A 198.51.100.10']))
    const world = sandbox.write('world', zoneText(['www A 203.0.113.80']))
    upstreams.push(
      await nsd.start([{ origin: 'corp.example.', file: corp }]),
      await bind.start([{ origin: 'world.example.', file: world }]),
    )
    const addresses = '192.0.2.1 192.0.2.2 192.0.2.3'.split(' ').map((address) => `pool A ${address}`)
    sandbox.write('zones/lab.example', zoneText(['vm1 A 192.0.2.61', ...addresses]))
    port = await freePort()
    metrics = await freePort()
    health = await freePort()
    const file = sandbox.write(
      'Corefile',
      `.:${port} {
    bind 127.0.0.1
    auto {
        directory ${sandbox.path('zones')} (.*) {1}
        reload 3s
    }
    forward corp.example 127.0.0.1:${upstreams[0].port}
    cache 30 corp.example {
        prefetch 10 60s
    }
    alternate original SERVFAIL . 127.0.0.1:${upstreams[1].port}
    loadbalance round_robin
    reload 5s
    loop
    nsid coredns-1
    prometheus 127.0.0.1:${metrics}
    health 127.0.0.1:${health}
    errors
    log
}
`,
    )
    server = await sandbox.serve('-conf', file)
  })
  afterAll(async () => {
    await sandbox.close()
    for (const upstream of upstreams) await upstream.stop()
  })

  test('its own zones are answered with authority, and new files are noticed', async () => {
    const answer = await lookup(port, 'vm1.lab.example.')
    expect(answer).toMatchObject({ aa: true, rcode: 0 })
    expect(await brief(port, 'vm2.lab.example.')).toBe('NXDOMAIN')
    sandbox.write('zones/new.example', zoneText(['www A 192.0.2.62']))
    await untilAnswer(port, 'www.new.example.', '192.0.2.62')
  })

  test('the forwarded domain is asked upstream, once while the cache has it', async () => {
    const hits = `coredns_cache_hits_total{server="dns://127.0.0.1:${port}",type="success",view="",zones="corp.example."}`
    expect(await brief(port, 'intranet.corp.example.')).toBe('198.51.100.10')
    const before = (await metric(metrics, hits)) ?? 0
    expect(await brief(port, 'intranet.corp.example.')).toBe('198.51.100.10')
    expect(await metric(metrics, hits)).toBe(before + 1)
    expect(await brief(port, 'nowhere.corp.example.')).toBe('NXDOMAIN')
  })

  test('every other name goes to the alternate, because nobody here answers it', async () => {
    expect(await brief(port, 'www.world.example.')).toBe('203.0.113.80')
    expect(await brief(port, 'nowhere.world.example.')).toBe('NXDOMAIN')
    expect(await brief(port, 'www.elsewhere.example.')).toBe('REFUSED')
  })

  test('addresses take turns at the front', async () => {
    const first = new Set<string>()
    for (let i = 0; i < 40; i++) first.add((await brief(port, 'pool.lab.example.')).split(' ')[0])
    expect(first.size).toBe(3)
  })

  test('the server tells its name to those who ask with NSID', async () => {
    expect(await dig(port, '+nsid', 'vm1.lab.example')).toContain('("coredns-1")')
    expect(await dig(port, '+nsid', '+tcp', 'vm1.lab.example')).toContain('("coredns-1")')
    expect(await dig(port, '+nsid', 'intranet.corp.example')).toContain('("coredns-1")')
  })

  test('a cookie is good for answers from zones and from upstream', async () => {
    const cookie = async (name: string, text: string) =>
      /COOKIE: ([0-9a-f]+) \(good\)/u.exec(await dig(port, `+cookie=${text}`, name))?.[1] ?? ''
    const first = await cookie('intranet.corp.example', '0123456789abcdef')
    expect(first).toHaveLength(48)
    const second = await cookie('vm1.lab.example', first)
    expect(Math.abs(timeOf(second) - timeOf(first))).toBeLessThan(60)
    expect(Math.abs(timeOf(first) - Date.now() / 1000)).toBeLessThan(60)
  })

  test('health, and metrics under the names of CoreDNS', async () => {
    const answer = await fetch(`http://127.0.0.1:${health}/health`)
    expect([answer.status, await answer.text()]).toEqual([200, 'OK'])
    const page = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
    for (const name of [
      'coredns_build_info',
      'coredns_dns_requests_total',
      'coredns_dns_responses_total',
      'coredns_dns_request_duration_seconds_bucket',
      'coredns_dns_request_size_bytes_bucket',
      'coredns_dns_response_size_bytes_bucket',
      'coredns_cache_entries',
      'coredns_cache_misses_total',
      'coredns_proxy_request_duration_seconds_bucket',
      'coredns_panics_total',
      'coredns_plugin_enabled',
    ])
      expect(page).toContain(`\n${name}{`.replace('_panics_total{', '_panics_total '))
  })

  test('the query log has the form of CoreDNS, for answers from zones, upstreams and over TCP', async () => {
    await dig(port, 'vm1.lab.example', 'A', '+noedns', '+norec')
    await dig(port, 'intranet.corp.example', 'A')
    await dig(port, 'vm1.lab.example', 'AAAA', '+tcp')
    const tail = String.raw`qr,[a-z,]+ \d+ \d+\.\d+s\n`
    const client = String.raw`\[INFO\] 127\.0\.0\.1:\d+ - \d+ `
    await server.logged(new RegExp(`${client}"A IN vm1\\.lab\\.example\\. udp 33 false 512" NOERROR ${tail}`, 'u'))
    await server.logged(
      new RegExp(`${client}"A IN intranet\\.corp\\.example\\. udp \\d+ false 1232" NOERROR ${tail}`, 'u'),
    )
    await server.logged(
      new RegExp(`${client}"AAAA IN vm1\\.lab\\.example\\. tcp \\d+ false 65535" NOERROR ${tail}`, 'u'),
    )
  })
})

describe('zone files beside a Kubernetes monitor', () => {
  const sandbox = new Sandbox()
  let server: HoldfastProcess
  let port: number
  let health: number
  let ready: number
  beforeAll(async () => {
    sandbox.write('zones/db.vm.example', '$ORIGIN vm.example.\n$TTL 60\n@ SOA ns admin 1 1 1 1 1\nnic.a A 10.1.0.5\n')
    port = await freePort()
    health = await freePort()
    ready = await freePort()
    const file = sandbox.write(
      'Corefile',
      `.:${port} {
    auto {
        directory ${sandbox.path('zones')} db\\.(.*) {1}
        reload 45s
    }
    reload
    log
    health :${health}
    ready :${ready}
}
`,
    )
    server = await sandbox.serve('-conf', file)
  })
  afterAll(() => sandbox.close())

  test('a zone without NS is served, a change of it at once, and both endpoints are well', async () => {
    expect(await brief(port, 'nic.a.vm.example.')).toBe('10.1.0.5')
    sandbox.write('zones/db.vm.example', '$ORIGIN vm.example.\n$TTL 60\n@ SOA ns admin 1 1 1 1 1\nnic.a A 10.1.0.6\n')
    await untilAnswer(port, 'nic.a.vm.example.', '10.1.0.6')
    expect((await fetch(`http://127.0.0.1:${health}/health`)).status).toBe(200)
    expect((await fetch(`http://127.0.0.1:${ready}/ready`)).status).toBe(200)
    await server.logged(/\[INFO\] 127\.0\.0\.1:\d+ - \d+ "A IN nic\.a\.vm\.example\. udp /u)
  })

  test('on every address the answer comes from the address asked', async () => {
    for (const address of ['127.0.0.1', '127.0.0.5', '::1', '127.1.2.3'])
      expect(await dig(port, `@${address}`, 'nic.a.vm.example', '+short')).toMatch(/^10\.1\.0\.[56]$/u)
  })
})

test('zones on several ports are kept once, and counted by port', async () => {
  const sandbox = new Sandbox()
  try {
    sandbox.write('zones/db.example.test', zoneText(Array.from({ length: 1000 }, (_, i) => `h${i} A 192.0.2.1`)))
    const [one, two, metrics] = [await freePort(), await freePort(), await freePort()]
    const usedBytes = async (ports: readonly number[]) => {
      const listen = ports.flatMap((port) => ['--listen', `127.0.0.1:${port}`])
      const server = await sandbox.serve(
        ...['--zones', sandbox.path('zones'), ...listen, '--metrics', `127.0.0.1:${metrics}`],
      )
      expect(server.output).toContain('1 zone with 1003 records loaded')
      for (const port of ports) expect(await brief(port, 'h1.example.test.')).toBe('192.0.2.1')
      await brief(ports[0], 'h2.example.test.')
      for (const [index, port] of ports.entries()) {
        const labels = `family="1",proto="udp",server="dns://127.0.0.1:${port}",type="A",view="",zone="example.test."`
        // On a busy machine a question may have been asked again.
        const asked = await metric(metrics, `coredns_dns_requests_total{${labels}}`)
        expect(asked).toBeGreaterThanOrEqual(index === 0 ? 2 : 1)
      }
      expect(await metric(metrics, 'holdfast_zones')).toBe(1)
      const bytes = await metric(metrics, 'holdfast_arena_used_bytes')
      server.kill('SIGTERM')
      expect(await server.ended()).toBe(0)
      return bytes
    }
    expect(await usedBytes([one, two])).toBe(await usedBytes([one]))
  } finally {
    await sandbox.close()
  }
})

describe('several server blocks', () => {
  const sandbox = new Sandbox()
  let upstream: RunningServer
  let port: number
  beforeAll(async () => {
    const file = sandbox.write('example.org', zoneText(['www A 192.0.2.1', 'out CNAME host.example.net.']))
    const net = sandbox.write('example.net', zoneText(['host A 203.0.113.7']))
    upstream = await nsd.start([{ origin: 'example.net.', file: net }])
    port = await freePort()
    const other = await freePort()
    await sandbox.serve(
      '-conf',
      sandbox.write(
        'Corefile',
        `example.org:${port} {
    bind 127.0.0.1 127.0.0.2 ::1
    file ${file}
}
.:${port} {
    bind 127.0.0.1 127.0.0.2 ::1
    forward . 127.0.0.1:${upstream.port}
    nsid everything-else
}
example.org:${other} {
    bind 127.0.0.1
    file ${file}
}
`,
      ),
    )
  })
  afterAll(async () => {
    await sandbox.close()
    await upstream.stop()
  })

  test.each(['127.0.0.1', '127.0.0.2', '::1'])(
    'share the port on %s, and the longest name decides',
    async (address) => {
      for (const transport of ['+notcp', '+tcp']) {
        expect(await dig(port, `@${address}`, transport, 'www.example.org', '+short')).toBe('192.0.2.1')
        expect(await dig(port, `@${address}`, transport, 'host.example.net', '+short')).toBe('203.0.113.7')
      }
    },
  )

  test('keep to themselves: a block without forward does not follow an alias through the other one', async () => {
    expect((await lookup(port, 'out.example.org.')).answers.map(({ type }) => type)).toEqual([TYPE.CNAME])
    expect(await dig(port, '+nsid', 'www.example.org')).not.toContain('everything-else')
    expect(await dig(port, '+nsid', 'x.example.com')).toContain('everything-else')
  })

  test('nothing is served on an address that is not bound', async () => {
    await expect(dig(port, '@127.0.0.3', 'www.example.org')).rejects.toThrow(/Command failed/u)
  })
})

/** When a server cookie was made (RFC 9018 section 4.3). */
function timeOf(cookie: string): number {
  return Number.parseInt(cookie.slice(24, 32), 16)
}

test('without arguments the Corefile of the working directory is taken, as CoreDNS does', async () => {
  const sandbox = new Sandbox()
  try {
    const port = await freePort()
    sandbox.write('zones/db.example.test', zoneText(['www A 192.0.2.1']))
    sandbox.write('Corefile', `.:${port} {\n bind 127.0.0.1\n auto {\n directory zones\n }\n}\n`)
    await sandbox.serve()
    expect(await brief(port, 'www.example.test.')).toBe('192.0.2.1')
  } finally {
    await sandbox.close()
  }
})

test.each([
  [['--zones', '.', '-dns.port', '5300'], '-dns.port with --zones'],
  [['-conf', 'Corefile', '--metrics', '127.0.0.1:9153'], '--metrics with a Corefile'],
  [['--zones', '.', '--listen', '127.0.0.1:0'], '"127.0.0.1:0"'],
])('flags that cannot be meant are refused: %j', async (args, message) => {
  const sandbox = new Sandbox()
  try {
    const server = sandbox.spawn(['dns', ...args])
    expect(await server.ended()).toBe(2)
    expect(server.output).toContain(message)
  } finally {
    await sandbox.close()
  }
})
