// KubeSecondaryDNS and ours on one cluster: the same virtual machines, the same zone; each goes on with the file of the
// other. And the same names through CoreDNS and our own server, from the directory and from etcd.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { formatName } from '../../../src/dns/name.ts'
import { formatRdata } from '../../../src/dns/rdata/rdata.ts'
import { TYPE, typeName } from '../../../src/dns/types.ts'
import { describeWithKubernetes } from '../../support/describe-with-kubernetes.ts'
import { type HoldfastProcess, Sandbox } from '../../support/holdfast-process.ts'
import { KubeCluster } from '../../support/kube-cluster.ts'
import { findKubeSecondaryDns, KubeSecondaryDns } from '../../support/kube-secondary-dns.ts'
import { brief, lookup, untilAnswer } from '../../support/lookup.ts'
import type { RunningServer } from '../../support/name-server.ts'
import { until } from '../../support/until.ts'
import { coredns, findCoredns, holdfastNames, MISSING } from '../servers.ts'
import { applyObjects, createNamespace, removeObjects } from './objects.ts'
import { machine, MACHINES, recordsOf, serialOf } from './virtual-machines.ts'

const LIMIT_MS = 60_000
const DOMAIN = 'example.org'
const ZONE = `vm.${DOMAIN}`
const ENV = { DOMAIN, NAME_SERVER_IP: '192.0.2.53' }
/** A records of the machines. */
const PUBLISHED = 10

const program = findCoredns()
if (program === undefined) console.warn(MISSING)
if (findKubeSecondaryDns() === undefined)
  console.warn('Skipped: HOLDFAST_KUBESECONDARYDNS does not name KubeSecondaryDNS, built without cgo')

describeWithKubernetes('names of virtual machines', () => {
  let cluster: KubeCluster
  let sandbox: Sandbox
  let directory: string
  const ends: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    cluster = await KubeCluster.start()
    await cluster.applyCrds('kubevirt')
    for (const namespace of ['vms', 'other']) await createNamespace(cluster, namespace)
  }, LIMIT_MS)
  afterAll(() => cluster?.stop())
  beforeEach(async () => {
    sandbox = new Sandbox()
    directory = mkdtempSync(join(tmpdir(), 'holdfast-ksd-'))
    await applyObjects(cluster, MACHINES, '')
  })
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
    await sandbox.close()
    await cluster.kubectl(['delete', 'virtualmachineinstances.kubevirt.io', '--all', '--all-namespaces'])
    await cluster.etcd.etcdctl('del', '--prefix', '/names/')
    rmSync(directory, { recursive: true })
  })

  function startTheirs(into = directory): KubeSecondaryDns {
    const started = KubeSecondaryDns.start(cluster, {
      domain: DOMAIN,
      nameServerIp: ENV.NAME_SERVER_IP,
      directory: into,
    })
    ends.push(() => started.stop())
    return started
  }

  function startOurs(...args: readonly string[]): HoldfastProcess {
    return sandbox.spawn(['publish', 'kubevirt', `--kubeconfig=${cluster.kubeconfig}`, ...args], 'pipe', ENV)
  }

  const zoneFile = (of = directory) => join(KubeSecondaryDns.zonesIn(of), `db.${ZONE}`)
  const read = (file = zoneFile()) => readFileSync(file, 'utf8')

  /** Machines come one after the other, each with a new file. */
  const untilComplete = (theirs: KubeSecondaryDns, records = PUBLISHED) =>
    until(
      'all machines',
      () => {
        const zone = theirs.zoneText ?? ''
        return zone.split(' IN A 10.').length === records + 1 && zone
      },
      LIMIT_MS,
    )

  async function start(server: ReturnType<typeof coredns>, ...zones: readonly string[]): Promise<RunningServer> {
    const running = await server.start(zones.map((origin) => ({ origin, file: '' })))
    ends.push(() => running.stop())
    return running
  }

  const auto = (zones: string) =>
    coredns(
      program ?? '',
      (port) => `.:${port} {\n auto {\n directory ${zones} db\\.(.*) {1}\n reload 2s\n }\n reload\n}\n`,
    )

  describe.skipIf(findKubeSecondaryDns() === undefined)('KubeSecondaryDNS and Holdfast', () => {
    test('write the same zone', async () => {
      const theirs = await untilComplete(startTheirs())
      startOurs('--directory', sandbox.path('zones'))
      const ours = await until('our zone', () => readIfThere(sandbox.path(`zones/db.${ZONE}`)))
      expect(recordsOf(ours)).toEqual(recordsOf(theirs))
    })

    test("take each other's zone over: no record changes, and the serial never goes back", async () => {
      const first = startTheirs()
      const written = await untilComplete(first)
      await first.stop()

      const second = startOurs('--directory', KubeSecondaryDns.zonesIn(directory))
      await second.logged(new RegExp(`db\\.${ZONE} up to date: serial ${serialOf(written)}`, 'u'))
      expect(read()).toBe(written)
      await applyObjects(cluster, [machine('new', 'vms', [{ name: 'nic1', addresses: ['10.10.0.99'] }])], '')
      const added = await until('the new machine', () => read().includes('10.10.0.99') && read())
      expect(serialOf(added)).toBe(serialOf(written) + 1)
      const lines = ['nic1.new.vms IN A 10.10.0.99', 'new.vms IN A 10.10.0.99']
      expect(recordsOf(added)).toEqual([...recordsOf(written), ...lines].toSorted())
      second.kill('SIGTERM')
      expect(await second.ended()).toBe(0)

      const third = startTheirs()
      await until('its serial', () => serialOf(read()) > serialOf(added), LIMIT_MS)
      await until('all machines', () => String(recordsOf(read())) === String(recordsOf(added)), LIMIT_MS)
      await third.stop()
      const handedBack = read()

      const fourth = startOurs('--directory', KubeSecondaryDns.zonesIn(directory))
      await fourth.logged(new RegExp(`up to date: serial ${serialOf(handedBack)}`, 'u'))
      await removeObjects(cluster, [MACHINES[0]], '')
      const removed = await until('its end', () => !read().includes('10.10.0.5') && read())
      expect(serialOf(removed)).toBe(serialOf(handedBack) + 1)
    })

    test('differ in what KubeSecondaryDNS does not know: IPv6 and further addresses', async () => {
      await applyObjects(
        cluster,
        [machine('dual', 'vms', [{ name: 'nic1', addresses: ['10.10.0.30', '2001:db8::30', '10.10.0.31'] }])],
        '',
      )
      const theirs = recordsOf(await untilComplete(startTheirs(), PUBLISHED + 2))
      startOurs('--directory', sandbox.path('all'))
      startOurs('--directory', sandbox.path('first'), '--addresses', 'first')
      const all = await until('our zone', () => readIfThere(sandbox.path(`all/db.${ZONE}`)))
      const first = await until('our zone', () => readIfThere(sandbox.path(`first/db.${ZONE}`)))
      expect(recordsOf(first).filter((line) => !line.includes('AAAA'))).toEqual(theirs)
      const more = recordsOf(all).filter((line) => !theirs.includes(line))
      expect(more).toEqual([
        'dual.vms IN A 10.10.0.31',
        'dual.vms IN AAAA 2001:db8::30',
        'nic1.dual.vms IN A 10.10.0.31',
        'nic1.dual.vms IN AAAA 2001:db8::30',
      ])
    })

    test.skipIf(program === undefined)('are answered alike by CoreDNS from their directories', async () => {
      await untilComplete(startTheirs())
      startOurs('--directory', sandbox.path('zones'))
      await until('our zone', () => readIfThere(sandbox.path(`zones/db.${ZONE}`)))
      const theirs = await start(auto(KubeSecondaryDns.zonesIn(directory)), `${ZONE}.`)
      const ours = await start(auto(sandbox.path('zones')), `${ZONE}.`)
      for (const [name, type] of questions()) {
        const [one, other] = await Promise.all([answer(ours.port, name, type), answer(theirs.port, name, type)])
        expect(`${name} ${typeName(type)} ${one}`).toBe(`${name} ${typeName(type)} ${other}`)
      }
      expect(await brief(ours.port, `nic10.many.vms.${ZONE}.`)).toBe('10.10.0.7')
    })
  })

  describe('from etcd', () => {
    const ZONES = [`${ZONE}.`, '10.in-addr.arpa.']
    const endpoint = () => cluster.etcd.endpoints[0]
    const servers = [
      ['our server in exact mode', () => holdfastNames((port) => names(port, 'exact'))],
      ['our server in compatible mode', () => holdfastNames((port) => names(port, 'compatible'))],
      ...(program === undefined ? [] : [['CoreDNS with its etcd plugin', () => coredns(program, corefile)] as const]),
    ] as const

    const names = (port: number, mode: string) =>
      [
        `etcd: { endpoints: ["${endpoint()}"] }`,
        `sources: [{ type: skydns, path: /names, zones: ${JSON.stringify(ZONES)}, mode: ${mode} }]`,
        `serve: { listen: ["127.0.0.1:${port}"] }\n`,
      ].join('\n')
    const corefile = (port: number) =>
      `.:${port} {\n etcd ${ZONES.join(' ')} {\n path /names\n endpoint ${endpoint()}\n }\n}\n`

    test.each(servers)(
      '%s has the interfaces, the machines, the name server and the reverse names',
      async (_, server) => {
        startOurs('--to', 'etcd', '--prefix', '/names/', '--create-ptr', `--endpoints=${endpoint()}`)
        const { port } = await start(server(), ...ZONES)
        await untilAnswer(port, `nic1.many.vms.${ZONE}.`, '10.10.0.6')
        expect(await brief(port, `nic10.many.vms.${ZONE}.`)).toBe('10.10.0.7')
        // Not the addresses of the interfaces, whose names are below it.
        await untilAnswer(port, `many.vms.${ZONE}.`, '10.10.0.6')
        expect(await brief(port, `one.vms.${ZONE}.`)).toBe('10.10.0.5')
        expect(await brief(port, `one.other.${ZONE}.`)).toBe('10.11.0.5')
        expect(await brief(port, `gone.vms.${ZONE}.`)).toBe('NXDOMAIN')
        expect(await brief(port, `${ZONE}.`, TYPE.NS)).toMatch(/^ns\.dns\.vm\.example\.org\.$/u)
        expect(await brief(port, '7.0.10.10.in-addr.arpa.', TYPE.PTR)).toBe(`nic10.many.vms.${ZONE}.`)
        expect(await brief(port, '6.0.10.10.in-addr.arpa.', TYPE.PTR)).toBe(`many.vms.${ZONE}.`)
        await removeObjects(cluster, [MACHINES[1]], '')
        await untilAnswer(port, `nic10.many.vms.${ZONE}.`, 'NXDOMAIN')
        await untilAnswer(port, `many.vms.${ZONE}.`, 'NXDOMAIN')
        await untilAnswer(port, '7.0.10.10.in-addr.arpa.', 'NXDOMAIN', TYPE.PTR)
      },
    )
  })
})

function* questions(): Generator<[name: string, type: number]> {
  const owners = ['', 'ns.', 'nic1.one.vms.', 'one.vms.', 'many.vms.', 'nic1.many.vms.', 'nic2.many.vms.', 'vms.']
  const others = ['nic10.many.vms.', 'default.many.vms.', 'blue.one.other.', 'one.other.', 'starting.other.', 'x.y.z.']
  for (const owner of [...owners, ...others])
    for (const type of [TYPE.A, TYPE.AAAA, TYPE.NS, TYPE.TXT]) yield [`${owner}${ZONE}.`, type]
  yield [`${ZONE}.`, TYPE.SOA]
}

/** The rcode and all records, but for the serial. */
async function answer(port: number, name: string, type: number): Promise<string> {
  const { rcode, answers, authorities } = await lookup(port, name, type)
  const lines = [answers, authorities].map((section) =>
    section.map(({ name: owner, type: kind, ttlSeconds, rdata }) =>
      [formatName(owner), ttlSeconds, typeName(kind), formatRdata(kind, rdata)].join(' '),
    ),
  )
  return JSON.stringify([rcode, ...lines]).replaceAll(/(email\.\S+) \d+ /gu, '$1 SERIAL ')
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
