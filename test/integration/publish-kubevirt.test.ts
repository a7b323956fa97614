// `holdfast publish kubevirt` as its users run it: a real API server, and what ends up in the zone file and in etcd.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeWithKubernetes } from '../support/describe-with-kubernetes.ts'
import { type HoldfastProcess, Sandbox } from '../support/holdfast-process.ts'
import { KubeCluster } from '../support/kube-cluster.ts'
import { until } from '../support/until.ts'

const MACHINES = '/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances'
const HEAD = [
  '$ORIGIN vm.example.org. ',
  '$TTL 3600 ',
  '@ IN SOA ns.vm.example.org. email.vm.example.org. (1 3600 3600 1209600 3600)',
  '@ IN NS ns.vm.example.org.',
  'ns IN A 192.0.2.53',
]

describeWithKubernetes('holdfast publish kubevirt', () => {
  let cluster: KubeCluster
  let sandbox: Sandbox

  beforeAll(async () => {
    cluster = await KubeCluster.start()
    await cluster.applyCrds('kubevirt')
  })
  afterAll(() => cluster?.stop())
  beforeEach(() => {
    sandbox = new Sandbox()
  })
  afterEach(async () => {
    await sandbox.close()
    await cluster.request('DELETE', MACHINES)
    await cluster.etcd.etcdctl('del', '--prefix', '/skydns/')
  })

  function publish(args: readonly string[] = ['--directory', sandbox.path('zones')], env = {}): HoldfastProcess {
    const command = ['publish', 'kubevirt', `--kubeconfig=${cluster.kubeconfig}`, ...args]
    return sandbox.spawn(command, 'pipe', { DOMAIN: 'example.org', NAME_SERVER_IP: '192.0.2.53', ...env })
  }

  /** With one interface. */
  async function machine(name: string, ...ipAddresses: readonly string[]): Promise<void> {
    const manifest = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata: { name }, spec: {} }
    const path = `${MACHINES}/${name}`
    await cluster.request('PATCH', `${path}?fieldManager=test`, manifest, 'application/apply-patch+yaml')
    const interfaces = [{ name: 'nic1', ipAddress: ipAddresses[0], ipAddresses }]
    await cluster.request('PATCH', `${path}/status`, { status: { interfaces } })
  }

  const file = () => sandbox.path('zones/db.vm.example.org')
  const zone = () => (existsSync(file()) ? readFileSync(file(), 'utf8') : '')
  const lines = () => zone().trimEnd().split('\n')
  const untilZone = (text: string) =>
    until(`zone with ${text}`, () => zone().includes(text)).catch(() => expect(zone()).toContain(text))

  test('the zone is there before the first machine, and then follows every one', async () => {
    publish()
    await untilZone('ns IN A')
    expect(lines()).toEqual(HEAD)
    await machine('db', '10.10.0.5', '2001:db8::5')
    await untilZone('10.10.0.5')
    expect(lines().slice(HEAD.length).toSorted()).toEqual([
      'db.default IN A 10.10.0.5',
      'db.default IN AAAA 2001:db8::5',
      'nic1.db.default IN A 10.10.0.5',
      'nic1.db.default IN AAAA 2001:db8::5',
    ])
    await cluster.request('DELETE', `${MACHINES}/db`)
    await until('its end', () => lines().length === HEAD.length)
  })

  test('without DOMAIN and NAME_SERVER_IP it is the zone vm, and flags win over variables', async () => {
    publish(undefined, { DOMAIN: '', NAME_SERVER_IP: '' })
    await until('db.vm', () => existsSync(sandbox.path('zones/db.vm')))
    expect(readFileSync(sandbox.path('zones/db.vm'), 'utf8')).not.toContain('NS')
    publish([
      '--directory',
      sandbox.path('zones'),
      '--domain',
      'flag.test',
      '--name-server-ip',
      '192.0.2.1,2001:db8::1',
    ])
    await until('db.vm.flag.test', () => existsSync(sandbox.path('zones/db.vm.flag.test')))
    const text = readFileSync(sandbox.path('zones/db.vm.flag.test'), 'utf8')
    expect(text).toContain('ns IN A 192.0.2.1\nns IN AAAA 2001:db8::1\n')
  })

  test('a restart leaves the file alone, and the serial goes on from there', async () => {
    await machine('db', '10.10.0.5')
    const first = publish()
    await untilZone('10.10.0.5')
    first.kill('SIGTERM')
    expect(await first.ended()).toBe(0)
    const before = zone()
    const second = publish()
    await second.logged(/db\.vm\.example\.org up to date: serial 1/u)
    expect(zone()).toBe(before)
    await machine('db', '10.10.0.6')
    await untilZone('10.10.0.6')
    expect(zone()).toContain('(2 3600')
  })

  test('while the API server is away the file stays as it is, also through a restart', async () => {
    await machine('db', '10.10.0.5')
    const first = publish()
    await untilZone('10.10.0.5')
    const before = zone()
    await cluster.kill()
    first.kill('SIGKILL')
    await first.ended()
    const second = publish()
    await second.logged(/Cannot list virtualmachineinstances.*refuses connections/u)
    expect(zone()).toBe(before)
    await cluster.restart()
    await second.logged(/up to date: serial 1/u)
    expect(zone()).toBe(before)
  })

  test('a directory that cannot be used is told, and used as soon as it can be', async () => {
    sandbox.write('zones', 'a file, where a directory should be')
    const server = publish()
    await server.logged(/Cannot write ".*zones\/db\.vm\.example\.org": .*tried again/u)
    rmSync(sandbox.path('zones'))
    await untilZone('ns IN A 192.0.2.53')
  })

  test.each([
    [{ DOMAIN: 'no domain' }, 'Cannot publish names below "no domain": DOMAIN is no domain name'],
    [{ DOMAIN: 'a..b' }, 'Cannot publish names below "a..b"'],
    [{ NAME_SERVER_IP: '192.0.2.300' }, 'Cannot tell others of name server "192.0.2.300"'],
    [{ NAME_SERVER_IP: 'ns.example.org' }, 'NAME_SERVER_IP is no address'],
  ])('%j is refused before anything is written', async (env, message) => {
    const server = publish(undefined, env)
    expect(await server.ended()).not.toBe(0)
    expect(server.output).toContain(message)
    expect(existsSync(sandbox.path('zones'))).toBe(false)
  })

  test.each([
    [['--to', 'zone'], 'Cannot use --to "zone": expected directory or etcd'],
    [['--to', 'etcd', '--directory', 'x'], 'Cannot use --directory with --to etcd'],
    [['--create-ptr'], 'Cannot use --create-ptr with --to directory'],
    [['--addresses', 'some'], 'Cannot use --addresses "some": expected all or first'],
  ])('%j is refused', async (args, message) => {
    const server = publish(args)
    expect(await server.ended()).toBe(2)
    expect(server.output).toContain(message)
  })

  test('into etcd, of two replicas one writes, and when it ends the other does', async () => {
    const etcd = ['--to', 'etcd', `--endpoints=${cluster.etcd.endpoints[0]}`, '--leader-election=default/vms']
    await machine('db', '10.10.0.5')
    const first = publish(etcd)
    await first.logged(/Writing/u)
    const second = publish(etcd)
    const stored = () => cluster.etcd.etcdctl('get', '--prefix', '/skydns/')
    const untilStored = (text: string) => until(text, async () => (await stored()).includes(text))
    await untilStored('"host":"10.10.0.5"')
    expect(await stored()).toContain('"owner":"kubevirt"')
    expect(await stored()).toContain('/skydns/org/example/vm/dns/ns/')
    first.kill('SIGTERM')
    expect(await first.ended()).toBe(0)
    await second.logged(/Writing/u)
    await machine('db', '10.10.0.6')
    await untilStored('"host":"10.10.0.6"')
    expect(await stored()).not.toContain('"host":"10.10.0.5"')
  })
})
