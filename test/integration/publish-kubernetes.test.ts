// `holdfast publish kubernetes` as its users run it: a real API server, a real etcd, and what ends up in its keys.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeWithKubernetes } from '../support/describe-with-kubernetes.ts'
import { type HoldfastProcess, Sandbox } from '../support/holdfast-process.ts'
import { KubeCluster } from '../support/kube-cluster.ts'
import { loopbackNetwork } from '../support/loopback.ts'
import { until } from '../support/until.ts'

const HOST = `${loopbackNetwork()}.0.1`

describeWithKubernetes('holdfast publish kubernetes', () => {
  let cluster: KubeCluster
  let sandbox: Sandbox

  beforeAll(async () => {
    cluster = await KubeCluster.start({ host: HOST })
  })
  afterAll(() => cluster?.stop())
  beforeEach(() => {
    sandbox = new Sandbox()
  })
  afterEach(async () => {
    await sandbox.close()
    await cluster.etcd.etcdctl('del', '--prefix', '/skydns/')
    await cluster.kubectl(['delete', 'ingress', '--all'])
  })

  const COMMON = ['publish', 'kubernetes', '--source=ingress', '--policy=sync']

  function publish(...args: readonly string[]): HoldfastProcess {
    const env = { ETCD_URLS: cluster.etcd.endpoints.map((each) => each.replace(/^(?!http)/u, 'http://')).join(',') }
    return sandbox.spawn([...COMMON, `--kubeconfig=${cluster.kubeconfig}`, ...args], 'pipe', env)
  }

  async function ingress(name: string, host: string, ip: string, annotations: object = {}): Promise<void> {
    const metadata = { name, namespace: 'default', annotations }
    const kind = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' }
    await cluster.apply(JSON.stringify({ ...kind, metadata, spec: { rules: [{ host }] } }))
    const address = { resource: 'ingresses', name, namespace: 'default' }
    await cluster.setStatus(address, { loadBalancer: { ingress: [{ ip }] } })
  }

  /** Keys without their random label, with their values. */
  async function stored(): Promise<string[]> {
    const lines = (await cluster.etcd.etcdctl('get', '--prefix', '/skydns/')).trim().split('\n')
    const pairs = lines.flatMap((line, i) => (i % 2 === 0 && line !== '' ? [`${line} ${lines[i + 1]}`] : []))
    return pairs.map((pair) => pair.replace(/\/[0-9a-f]{8} /u, '/* ')).toSorted()
  }

  async function untilStored(...wanted: readonly string[]): Promise<void> {
    let seen: string[] = []
    const isStored = async () => {
      seen = await stored()
      return JSON.stringify(seen) === JSON.stringify(wanted)
    }
    await until('keys', isStored).catch(() => expect(seen).toEqual(wanted))
  }

  const WEB = '/skydns/org/example/web/*'
  const NOTE = '"heritage=external-dns,external-dns/owner=default,external-dns/resource=ingress/default/web"'

  test('with --provider=coredns it writes what ExternalDNS writes, follows every change and deletes its own', async () => {
    await ingress('web', 'web.example.org', '192.0.2.1')
    publish('--provider=coredns', `--metrics-address=${HOST}:17979`)
    const note = `/skydns/org/example/a-web/* {"text":${JSON.stringify(NOTE)},"targetstrip":1}`
    await untilStored(note, `${WEB} {"host":"192.0.2.1","targetstrip":1}`)
    await ingress('web', 'web.example.org', '192.0.2.2')
    await untilStored(note, `${WEB} {"host":"192.0.2.2","targetstrip":1}`)
    const metrics = await (await fetch(`http://${HOST}:17979/metrics`)).text()
    expect(metrics).toContain('external_dns_source_endpoints_total 1')
    await cluster.kubectl(['delete', 'ingress', 'web'])
    await untilStored()
  })

  test('a record is changed and deleted although the domain filter does not let its mark through', async () => {
    await ingress('web', 'example.org', '192.0.2.1')
    publish('--provider=coredns', `--metrics-address=${HOST}:17979`, '--domain-filter=example.org')
    const note = `/skydns/org/a-example/* {"text":${JSON.stringify(NOTE)},"targetstrip":1}`
    await untilStored(note, '/skydns/org/example/* {"host":"192.0.2.1","targetstrip":1}')
    await ingress('web', 'example.org', '192.0.2.2')
    await untilStored(note, '/skydns/org/example/* {"host":"192.0.2.2","targetstrip":1}')
    await cluster.kubectl(['delete', 'ingress', 'web'])
    await untilStored()
  })

  test('without it ownership is in the value, and a name of somebody else stays as it is', async () => {
    await cluster.etcd.etcdctl('put', '/skydns/org/example/taken/x', '{"host":"192.0.2.9","targetstrip":1}')
    const server = publish()
    await ingress('web', 'web.example.org', '192.0.2.1')
    await ingress('taken', 'taken.example.org', '192.0.2.1')
    const foreign = '/skydns/org/example/taken/x {"host":"192.0.2.9","targetstrip":1}'
    await untilStored(foreign, `${WEB} {"host":"192.0.2.1","targetstrip":1,"owner":"default"}`)
    await server.logged(/"taken\.example\.org".*belongs to nobody/u)
  })

  test('without it names are stored in lower case, as CoreDNS asks for them', async () => {
    await ingress('web', 'web.example.org', '192.0.2.1', { 'external-dns.kubernetes.io/hostname': 'WWW.Example.org' })
    const value = '{"host":"192.0.2.1","targetstrip":1,"owner":"default"}'
    const server = publish('--namespace=', '--server=', '--log-format=json', '--metrics-address=')
    await untilStored(`${WEB} ${value}`, `/skydns/org/example/www/* ${value}`)
    await server.logged(/--log-format has no effect: lines of the log are text/u)
  })

  test('what somebody changes behind its back is mended at once', async () => {
    await ingress('web', 'web.example.org', '192.0.2.1')
    publish('--interval=1h')
    const good = `${WEB} {"host":"192.0.2.1","targetstrip":1,"owner":"default"}`
    await untilStored(good)
    await cluster.etcd.etcdctl('del', '--prefix', '/skydns/org/example/web/')
    await untilStored(good)
  })

  test('a dry run prints what would be done, as a table and as JSON, and does nothing', async () => {
    await ingress('web', 'web.example.org', '192.0.2.1')
    const withoutEtcd = publish('--dry-run', '--once', '--endpoints=127.0.0.1:1')
    const filtered = publish('--dry-run', '--once', '--domain-filter=exmaple.org')
    expect(await filtered.ended()).toBe(0)
    expect(filtered.output).toContain('Nothing to change; 0 of 1 name matches the domain filters')
    const table = publish('--dry-run', '--once')
    expect(await table.ended()).toBe(4)
    expect(table.output).toMatch(/ACTION +NAME +TYPE/u)
    expect(table.output).toContain('1 to change; 1 of 1 name matches the domain filters')
    expect(table.output).toMatch(/create +web\.example\.org +A +- +192\.0\.2\.1 +- +ingress\/default\/web/u)
    const json = publish('--dry-run', '--once', '--json')
    expect(await json.ended()).toBe(4)
    const line = json.output.split('\n').find((each) => each.startsWith('{')) ?? ''
    expect(JSON.parse(line)).toEqual({
      changes: [
        {
          ...{ action: 'create', name: 'web.example.org', type: 'A', ttl: 0 },
          ...{ before: [], after: ['192.0.2.1'], resource: 'ingress/default/web' },
        },
      ],
      ...{ names: 1, matching: 1, complete: true },
    })
    expect(await stored()).toEqual([])
    await cluster.kubectl(['delete', 'ingress', '--all'])
    const nothing = publish('--dry-run', '--once')
    expect(await nothing.ended()).toBe(0)
    expect(nothing.output).toContain('Nothing to change; 0 of 0 names match the domain filters')
    expect(await withoutEtcd.ended()).toBe(1)
    expect(withoutEtcd.output).toContain('Cannot publish: etcd could not be read within 15 s')
    expect(withoutEtcd.output).not.toContain('Nothing to change')
  })

  test('with an API server that seems to have lost everything, nothing is deleted until that is allowed', async () => {
    const keys = Array.from({ length: 30 }, (_, i) => `/skydns/org/example/h${i + 10}/aaaaaaaa`)
    for (const key of keys)
      await cluster.etcd.etcdctl('put', key, '{"host":"192.0.2.1","targetstrip":1,"owner":"default"}')
    const server = publish('--once')
    expect(await server.ended()).toBe(1)
    expect(server.output).toMatch(/Cannot delete 30 names in one run: .*--max-deletions=30/u)
    expect(await stored()).toHaveLength(30)
    const allowed = publish('--once', '--max-deletions=30', `--metrics-address=${HOST}:17980`)
    expect(await allowed.ended()).toBe(0)
    expect(await stored()).toEqual([])
  })

  test('of two replicas one writes, and when it is killed the other does', async () => {
    const lease = '--leader-election=default/names'
    const first = publish(lease)
    await first.logged(/Writing/u)
    const second = publish(lease)
    await ingress('web', 'web.example.org', '192.0.2.1')
    await untilStored(`${WEB} {"host":"192.0.2.1","targetstrip":1,"owner":"default"}`)
    first.kill('SIGTERM')
    expect(await first.ended()).toBe(0)
    await second.logged(/Writing/u)
    await ingress('web', 'web.example.org', '192.0.2.2')
    await untilStored(`${WEB} {"host":"192.0.2.2","targetstrip":1,"owner":"default"}`)
  })

  test.each([
    [['--source=ingres'], /no such source; did you mean "ingress"\?/u],
    [['--policy=all'], /given twice|Cannot use --policy/u],
    [['--registry=dynamodb'], /Cannot use --registry "dynamodb": txt, noop, value are known/u],
    [['--provider=aws'], /Cannot use --provider "aws"/u],
    [['--interval=often'], /Cannot read "often" as --interval/u],
    [['--aws-zone-type=public'], /unknown option "--aws-zone-type=public"/u],
    [['--label-filter=a in'], /Cannot .*a in/u],
    [['--fqdn-template={{.Name'], /Cannot read template/u],
  ])('%j is refused before anything is done', async (args, message) => {
    const server = publish(...args)
    expect(await server.ended()).toBe(2)
    expect(server.output).toMatch(message)
  })
})
