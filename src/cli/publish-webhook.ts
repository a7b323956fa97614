// `holdfast publish webhook`: a provider for ExternalDNS (`--provider=webhook`), for those who keep ExternalDNS and want
// what it lacks behind it: writes that are transactions, reads from a live mirror, no key touched that is not meant.

import { once } from 'node:events'
import { EtcdClient } from '../etcd/client.ts'
import { HoldfastError, messageOf } from '../lib/errors.ts'
import { readRegularFile } from '../lib/file-source.ts'
import { Log } from '../lib/log.ts'
import { LogSink } from '../lib/log-sink.ts'
import { Secret } from '../lib/secret.ts'
import { domainFilter, type DomainFilterOptions } from '../names/endpoints/domain-filter.ts'
import { SkydnsStore } from '../names/outputs/skydns/skydns-store.ts'
import type { GuardOptions } from '../names/outputs/skydns/webhook-guard.ts'
import { WebhookServer } from '../names/outputs/skydns/webhook-server.ts'
import { cannotListen } from '../server/cannot-listen.ts'
import type { HttpAddress } from '../server/config.ts'
import { MetricsText } from '../server/metrics/metrics-text.ts'
import { writeProcessMetrics } from '../server/metrics/process-metrics.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { ETCD_FLAGS } from './etcd-flags.ts'
import { readEtcdUrls } from './etcd-urls.ts'
import { ExternalDnsFlags } from './external-dns-flags.ts'
import { externalDnsOptions } from './external-dns-options.ts'
import { readHttpAddress, readPrefix } from './publish-flags.ts'
import { serveMetrics } from './publisher-http.ts'

/** Where ExternalDNS looks for a webhook, and where its chart asks how it is. */
const LISTEN = '127.0.0.1:8888'
const METRICS = ':8080'
const OWNER = 'default'

const SHARED_FLAGS: ReadonlySet<string> = new Set([
  'domain-filter',
  'exclude-domains',
  'regex-domain-filter',
  'regex-domain-exclusion',
  'coredns-prefix',
  'coredns-strictly-owned',
  'no-coredns-strictly-owned',
  'txt-owner-id',
])

export const publishWebhookCommand = command({
  name: 'publish webhook',
  isServer: true,
  summary: 'Write records into etcd as a webhook of ExternalDNS',
  usage: '[--listen ADDR:PORT] [--domain-filter DOMAIN]... [--coredns-prefix PREFIX] [OPTIONS]',
  options: {
    listen: { value: 'ADDR:PORT', summary: `where ExternalDNS asks (default: ${LISTEN})` },
    'password-file': {
      value: 'FILE',
      summary: 'expect the password in FILE, which ExternalDNS has in its webhook URL',
    },
    'allow-host': {
      value: 'NAME',
      repeat: true,
      summary: 'accept requests to this host name, not only to localhost and addresses',
    },
    'metrics-address': {
      value: 'ADDR:PORT',
      summary: `serve /metrics and /healthz there; ${METRICS} unless given, nowhere if empty`,
    },
    quiet: { summary: 'log only errors' },
    ...ETCD_FLAGS,
    ...Object.fromEntries(Object.entries(externalDnsOptions()).filter(([name]) => SHARED_FLAGS.has(name))),
  },
  async run({ options }, io) {
    const flags = new ExternalDnsFlags(options, io.env)
    const metrics = options['metrics-address'] ?? METRICS
    const webhook = new Webhook({
      listen: readHttpAddress(options.listen || LISTEN),
      metrics: metrics === '' ? undefined : readHttpAddress(metrics),
      domains: readDomains(flags),
      guard: {
        hosts: options['allow-host'].map((host) => host.toLowerCase().replace(/\.$/u, '')),
        password: readPassword(options['password-file']),
      },
      prefix: readPrefix('coredns-prefix', flags.written('coredns-prefix')),
      owner: flags.flag('coredns-strictly-owned') ? (flags.text('txt-owner-id') ?? OWNER) : undefined,
    })
    const client = new EtcdClient(await readEtcdUrls(options, io))
    const sink = new LogSink(1)
    const signal = io.stopSignal()
    try {
      await webhook.run(client, new Log(sink, { quiet: options.quiet }), signal)
    } finally {
      client.close()
      await sink.flush()
    }
    return EXIT.done
  },
})

interface WebhookSettings {
  readonly listen: HttpAddress
  readonly metrics: HttpAddress | undefined
  readonly domains: DomainFilterOptions
  readonly guard: GuardOptions
  readonly prefix: string
  /** Whose values are ours, where the values tell. */
  readonly owner: string | undefined
}

class Webhook {
  readonly #settings: WebhookSettings
  /** Answers by route and status. */
  readonly #answers = new Map<string, { route: string; status: string; count: number }>()
  #isUp = false

  constructor(settings: WebhookSettings) {
    this.#settings = settings
  }

  async run(client: EtcdClient, log: Log, signal: AbortSignal): Promise<void> {
    const { listen, metrics, domains, guard } = this.#settings
    // Ends after the server, so that requests under way are done.
    const following = new AbortController()
    const store = this.#store(client, log, following.signal)
    const onAnswer = (route: string, status: number) => this.#count(route, status)
    const server = new WebhookServer({ store, domains, guard, log, onAnswer })
    try {
      await server.listen(listen.host, listen.port).catch((thrown: unknown) => refuse(listen, thrown))
      if (metrics !== undefined) await serveMetrics(metrics, () => this.#metrics(store), signal)
      log.info(`Listening on ${listen.host}:${listen.port} for ExternalDNS`)
      if (guard.password === undefined && !isLoopback(listen.host))
        log.warning('Every host that reaches this port can change records; use --password-file')
      store.start().catch((thrown: unknown) => log.error(`Cannot follow etcd: ${messageOf(thrown)}`))
      if (!signal.aborted) await once(signal, 'abort')
      log.info(`Stopping on ${String(signal.reason)}`)
    } finally {
      await server.close()
      following.abort(signal.reason)
    }
  }

  #store(client: EtcdClient, log: Log, signal: AbortSignal): SkydnsStore {
    const { prefix, owner, domains } = this.#settings
    return new SkydnsStore({
      ...{ client, prefix, signal, domainFilter: domainFilter(domains) },
      ...(owner !== undefined && { owner }),
      onProblem: (message) => log.warning(message),
      onChange: () => undefined,
      onState: (state) => {
        this.#isUp = state.up
        if (state.up) log.info(`Following "${prefix}" from revision ${state.revision}`)
        else log.error(state.error.message)
      },
    })
  }

  #count(route: string, status: number): void {
    const key = `${route} ${status}`
    const { count } = this.#answers.get(key) ?? { count: 0 }
    this.#answers.set(key, { route, status: String(status), count: count + 1 })
  }

  #metrics(store: SkydnsStore): string {
    const text = new MetricsText()
    text.family('holdfast_webhook_answers_total', 'counter', 'Requests of ExternalDNS, by their outcome.')
    for (const { route, status, count } of this.#answers.values()) text.sample(count, { route, status })
    text.family('holdfast_webhook_names', 'gauge', 'Names with records in etcd.')
    text.sample([...store.names()].length)
    text.family(
      'holdfast_publisher_up',
      'gauge',
      'Whether changes are followed: 1, or 0 while the last known state stands.',
    )
    text.sample(this.#isUp ? 1 : 0, { of: 'etcd' })
    writeProcessMetrics(text)
    return text.toString()
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

function refuse({ host, port }: HttpAddress, thrown: unknown): never {
  throw cannotListen('TCP', host, port, (thrown as NodeJS.ErrnoException).code ?? messageOf(thrown))
}

function readPassword(file: string | undefined): Secret | undefined {
  if (file === undefined) return undefined
  const password = readRegularFile(file).toString().trim()
  if (password !== '') return new Secret(password)
  throw new HoldfastError('Usage', `Cannot use --password-file "${file}": the file is empty; expected a password`)
}

function readDomains(flags: ExternalDnsFlags): DomainFilterOptions {
  return {
    include: flags.list('domain-filter'),
    exclude: flags.list('exclude-domains'),
    regexInclude: flags.text('regex-domain-filter') ?? '',
    regexExclude: flags.text('regex-domain-exclusion') ?? '',
  }
}
