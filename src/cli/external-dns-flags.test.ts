import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { collectingIo } from '../../test/support/command-line.ts'
import { command } from './command.ts'
import { ExternalDnsFlags } from './external-dns-flags.ts'
import { EXTERNAL_DNS_FLAGS, externalDnsOptions } from './external-dns-options.ts'

async function read(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<ExternalDnsFlags> {
  let flags: ExternalDnsFlags | undefined
  const { io } = collectingIo({ env })
  const reading = command({
    ...{ name: 'read', summary: '', usage: '', options: externalDnsOptions() },
    async run({ options }) {
      flags = new ExternalDnsFlags(options, io.env)
      return 0
    },
  })
  await reading.run(argv, io)
  return flags!
}

describe('values', () => {
  test('a flag wins over its variable', async () => {
    const env = {
      EXTERNAL_DNS_NAMESPACE: 'there',
      EXTERNAL_DNS_SOURCE: 'ingress\r\nservice\n',
      EXTERNAL_DNS_DRY_RUN: '1',
      EXTERNAL_DNS_INTERVAL: '90',
    }
    const flags = await read(['--namespace=here'], env)
    expect(flags.text('namespace')).toBe('here')
    expect(flags.list('source')).toEqual(['ingress', 'service'])
    expect(flags.flag('dry-run')).toBe(true)
    expect(flags.duration('interval')).toBe(90_000)
    expect((await read(['--source=node', '--no-dry-run'], env)).list('source')).toEqual(['node'])
    expect((await read(['--no-dry-run'], env)).flag('dry-run')).toBe(false)
  })

  test('an empty one is none, of a flag and of a variable', async () => {
    const env = { EXTERNAL_DNS_CONTEXT: '', EXTERNAL_DNS_DOMAIN_FILTER: '', EXTERNAL_DNS_ONCE: '' }
    const empty = ['--kubeconfig=', '--server=', '--namespace=', '--policy=', '--interval=', '--source=', '--events=']
    const flags = await read(empty, env)
    for (const name of ['kubeconfig', 'server', 'namespace', 'context'] as const)
      expect(flags.text(name), name).toBeUndefined()
    expect(flags.choice('policy', ['sync'])).toBeUndefined()
    expect(flags.duration('interval')).toBeUndefined()
    expect(flags.list('source')).toEqual([])
    expect(flags.list('domain-filter')).toEqual([])
    expect([flags.flag('events'), flags.flag('once')]).toEqual([false, false])
    expect((await read(['--kubeconfig='], { EXTERNAL_DNS_KUBECONFIG: 'file' })).text('kubeconfig')).toBeUndefined()
  })

  test('where an empty one says something, it can be seen', async () => {
    expect((await read(['--metrics-address='])).written('metrics-address')).toBe('')
    expect((await read([], { EXTERNAL_DNS_METRICS_ADDRESS: '' })).written('metrics-address')).toBeUndefined()
  })

  test('switches are words that Go takes for true and false', async () => {
    const on = async (...argv: string[]) => (await read(argv)).flag('exclude-unschedulable')
    expect([await on(), await on('--exclude-unschedulable=T'), await on('--exclude-unschedulable')]).toEqual([
      true,
      true,
      true,
    ])
    expect([await on('--no-exclude-unschedulable'), await on('--exclude-unschedulable=0')]).toEqual([false, false])
    await expect(on('--exclude-unschedulable=yes')).rejects.toThrow('expected true or false')
  })
})

describe('record types', () => {
  test('are spelled as ExternalDNS spells them, one with each flag', async () => {
    const types = async (...argv: string[]) => (await read(argv)).recordTypes('managed-record-types')
    expect(await types()).toEqual([])
    expect(await types('--managed-record-types=A', '--managed-record-types=TXT')).toEqual(['A', 'TXT'])
    await expect(types('--managed-record-types=a')).rejects.toThrow(
      'Cannot use --managed-record-types "a": A, AAAA, CNAME,',
    )
    await expect(types('--managed-record-types=A,CNAME')).rejects.toMatchObject({
      message: expect.stringContaining('"A,CNAME"'),
      hint: 'several are given one by one: --managed-record-types=A --managed-record-types=AAAA',
    })
  })
})

describe('what has nothing to do here', () => {
  test.each([
    '--prefer-alias',
    '--zone-id-filter=Z1',
    '--zone-name-filter=example.org',
    '--tls-ca=ca.pem',
    '--tls-client-cert=cert.pem',
    '--tls-client-cert-key=key.pem',
    '--pod-source-domain=pods.example.org',
    '--ignore-non-host-network-pods',
    '--no-gateway-listener-sets',
    '--resolve-service-load-balancer-hostname=false',
    '--compatibility=',
    '--log-format=text',
  ])('%s is taken without a word', async (flag) => {
    const flags = await read([flag])
    expect(() => flags.refuseUnsupported()).not.toThrow()
    expect(flags.unmet()).toEqual([])
  })

  test('what somebody may wait for is told', async () => {
    const flags = await read(['--log-format=json', '--events-emit=RecordReady'])
    expect(flags.unmet()).toEqual([
      '--events-emit has no effect: Kubernetes gets no events from here',
      '--log-format has no effect: lines of the log are text',
    ])
    expect((await read([], { EXTERNAL_DNS_LOG_FORMAT: 'json' })).unmet()).toHaveLength(1)
    const bad = await read(['--log-format=xml'])
    expect(() => bad.unmet()).toThrow('Cannot use --log-format "xml": text, json are known')
  })

  test.each([
    [
      ['--gateway-listener-sets'],
      {},
      'Cannot use --gateway-listener-sets: ListenerSets are not followed; leave it out',
    ],
    [['--nat64-networks=64:ff9b::/96'], {}, 'Cannot use --nat64-networks: no A records'],
    [['--resolve-service-load-balancer-hostname'], {}, 'they become CNAME records'],
    [['--compatibility=mate'], {}, 'Cannot use --compatibility: annotations of Mate'],
    [[], { EXTERNAL_DNS_GATEWAY_LISTENER_SETS: 'true' }, 'Cannot use --gateway-listener-sets'],
  ])('%j %j would make other names, and is refused', async (argv, env, message) => {
    const flags = await read(argv, env)
    expect(() => flags.refuseUnsupported()).toThrow(message)
  })
})

test('the reference names every flag', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/publish-kubernetes.md'), 'utf8')
  const missing = Object.keys(EXTERNAL_DNS_FLAGS).filter(
    (name) => !new RegExp(String.raw`--${name}[\x60=]`, 'u').test(page),
  )
  expect(missing).toEqual([])
})

test('the help says which flags are refused', () => {
  expect(externalDnsOptions()['nat64-networks'].summary).toBe('refused: no A records are made of AAAA records')
  expect(Object.keys(externalDnsOptions())).toEqual(expect.arrayContaining(Object.keys(EXTERNAL_DNS_FLAGS)))
})
