import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { describe, expect, test } from 'vitest'
import { dnsSite } from '../../../test/support/dns-spec.ts'
import { HARDWARE } from '../../../test/support/machine-spec.ts'
import { needing } from '../../../test/support/needing.ts'
import { Secret } from '../../lib/secret.ts'
import { reveal, show } from '../../machine/content.ts'
import type { Chrony, Hardware, LogForwarding } from '../../machine/hardware.ts'
import type { Machine, Service } from '../../machine/machine.ts'
import { withHostParts } from './host-parts.ts'

const SITE = { ...dnsSite(), program: ['/opt/node', '/opt/main.js'] }
const SERVICE: Service = {
  name: 'etcd',
  user: 'etcd',
  command: ['/usr/bin/etcd'],
  environment: {},
  stopSignal: 'SIGTERM',
  stopTimeoutMs: 1000,
}

function machine(hardware: Partial<Hardware> = {}, services: readonly Service[] = [SERVICE]): Machine {
  const wanted: Machine = {
    name: 'etcd-1',
    kind: 'etcd',
    address: '10.0.0.1',
    hardware: { ...HARDWARE, ...hardware },
    packages: ['etcd-server'],
    directories: [{ path: '/etc/holdfast', owner: 'root', mode: 0o755 }],
    files: [],
    services,
    ports: [{ port: 2379, protocol: 'tcp', purpose: 'etcd clients' }],
  }
  return withHostParts(wanted, SITE)
}

function fileOf({ files }: Machine, path: string) {
  const found = files.find((file) => file.path === path)
  if (found === undefined) throw new Error(`there is no ${path} in ${files.map((file) => file.path).join(' ')}`)
  return found
}

const textOf = (of: Machine, path: string) => reveal(fileOf(of, path).content)
const serviceOf = ({ services }: Machine, name: string) => services.find((service) => service.name === name)

test('every machine has the node exporter, beside what its cluster has given it', () => {
  const { packages, services, ports, files, directories, packageSources } = machine()
  expect(packages).toEqual(['etcd-server', 'prometheus-node-exporter'])
  expect(services.map(({ name, user, command }) => [name, user, command])).toEqual([
    ['etcd', 'etcd', ['/usr/bin/etcd']],
    ['node-exporter', 'prometheus', ['/usr/bin/prometheus-node-exporter']],
  ])
  expect(services.map(({ isOfHost = false }) => isOfHost)).toEqual([false, true])
  expect(ports.map(({ port }) => port)).toEqual([2379, 9100])
  expect([files, directories.length, packageSources]).toEqual([[], 1, []])
})

describe('chrony', () => {
  const CHRONY: Chrony = {
    servers: [{ url: '192.0.2.1', options: ['iburst', 'minpoll', '4'] }],
    pools: [{ url: 'pool.example', options: [] }],
    makestep: { threshold: 0.5, limit: -1 },
  }

  needing('chronyd').test('has the sources of the stack file, as chronyd itself reads them', () => {
    const made = machine({ chrony: CHRONY })
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-chrony-'))
    try {
      const file = join(directory, 'chrony.conf')
      writeFileSync(file, textOf(made, '/etc/chrony/chrony.conf'))
      const printed = execFileSync('/usr/sbin/chronyd', ['-p', '-f', file], { encoding: 'utf8' })
      expect(printed.trim().split('\n')).toEqual([
        'server 192.0.2.1 iburst minpoll 4',
        'pool pool.example',
        'makestep 0.5 -1',
        'rtcsync',
        'driftfile /var/lib/chrony/chrony.drift',
        'logdir /var/log/chrony',
        'keyfile /etc/chrony/chrony.keys',
      ])
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  test('comes before the services of the cluster, and starts anew with other sources', () => {
    const made = machine({ chrony: CHRONY })
    expect(made.services.map(({ name }) => name)).toEqual(['chrony', 'etcd', 'node-exporter'])
    expect(made.packages).toContain('chrony')
    expect(fileOf(made, '/etc/chrony/chrony.conf').onChange).toEqual({ restart: 'chrony' })
    expect(serviceOf(made, 'chrony')).toMatchObject({
      user: 'root',
      command: ['/usr/sbin/chronyd', '-d', '-f', '/etc/chrony/chrony.conf'],
    })
  })

  test('leaves the clock alone in a container, where it is that of the host', () => {
    const made = machine({ chrony: CHRONY, hypervisor: 'lxc:///system' })
    expect(serviceOf(made, 'chrony')?.command).toContain('-x')
  })
})

const KEY = 'kéy "with" $igns and \\ `ticks`'
const FORWARD: NonNullable<LogForwarding['forward']> = {
  domain: 'logs.example',
  port: 24_224,
  hostname: 'etcd-1',
  sharedKey: new Secret(KEY),
  caCert: 'authority\n',
}

function logs(options: Partial<LogForwarding> = {}): Partial<Hardware> {
  const standard = { agent: 'fluentbit', tags: {}, forward: FORWARD, etcd: undefined, buffer: undefined } as const
  return { logs: { ...standard, packageSource: undefined, ...options } }
}

const HOME = '/etc/fluent-bit-customization'

/** Sections of a configuration of fluent-bit, with their entries. */
function sections(text: string): unknown[] {
  return text
    .split(/^(?=\[)/mu)
    .filter((part) => part.startsWith('['))
    .map((part) => {
      const [head, ...lines] = part.trim().split('\n')
      return [head, Object.fromEntries(lines.map((line) => line.trim().split(/ (.*)/u)))]
    })
}

describe('fluent-bit', () => {
  test('reads the journal of each service that has a tag, and remembers how far', () => {
    const made = machine(logs({ tags: { etcd: 'lab.etcd' } }), [SERVICE, { ...SERVICE, name: 'etcd-auth' }])
    const input = (service: string, tag: string) => [
      '[INPUT]',
      {
        ...{ Name: 'systemd', Tag: tag, Systemd_Filter: `_SYSTEMD_UNIT=holdfast-${service}.service` },
        ...{ DB: `/var/lib/fluent-bit/${service}.db`, Mem_Buf_Limit: '10MB' },
      },
    ]
    expect(sections(textOf(made, `${HOME}/default-config/fluent-bit-inputs.conf`))).toEqual([
      input('etcd', 'lab.etcd'),
      input('node-exporter', 'node_exporter'),
    ])
  })

  test('sends over TLS, with a shared key that is in no configuration', () => {
    const made = machine(logs())
    expect(sections(textOf(made, `${HOME}/default-config/fluent-bit-output.conf`))).toEqual([
      [
        '[OUTPUT]',
        {
          ...{ Name: 'forward', Match: '*', Host: 'logs.example', Port: '24224', Self_Hostname: 'etcd-1' },
          ...{ Shared_Key: '${HOLDFAST_SHARED_KEY}', Retry_Limit: 'no_limits' },
          ...{ tls: 'on', 'tls.verify': 'on', 'tls.ca_file': `${HOME}/forward_ca.crt` },
        },
      ],
    ])
    expect(textOf(made, `${HOME}/forward_ca.crt`)).toBe('authority\n')
    const secret = fileOf(made, `${HOME}/forward.env`)
    expect(secret).toMatchObject({ owner: 'root', mode: 0o600, onChange: { restart: 'fluent-bit' } })
    expect(show(secret.content)).toBe('HOLDFAST_SHARED_KEY="***"\n')
    expect(made.files.filter(({ content }) => show(content) !== reveal(content))).toEqual([secret])
    expect(reveal(secret.content)).toBe(String.raw`HOLDFAST_SHARED_KEY="kéy \"with\" \$igns and \\ \`ticks\`"` + '\n')
  })

  test('starts with the three files at the paths that others know', () => {
    const made = machine(logs())
    expect(textOf(made, `${HOME}/fluent-bit.conf`)).toBe(
      ['service', 'inputs', 'output']
        .map((name) => `@INCLUDE ${HOME}/default-config/fluent-bit-${name}.conf\n`)
        .join(''),
    )
    expect(made.services.at(-1)).toMatchObject({
      name: 'fluent-bit',
      command: ['/opt/fluent-bit/bin/fluent-bit', '--enable-hot-reload', '-c', `${HOME}/fluent-bit.conf`],
      environmentFiles: [`${HOME}/forward.env`],
      reloadSignal: 'SIGHUP',
    })
  })

  test('is installed from the source that the stack file names, else the image has it', () => {
    const source = {
      name: 'fluentbit',
      source: 'deb [signed-by=$KEY_FILE] https://packages.example bookworm main',
      key: 'key',
    }
    const installed = machine(logs({ packageSource: source }))
    expect(installed.packages).toContain('fluent-bit')
    expect(installed.packageSources).toEqual([source])
    expect(machine(logs()).packages).not.toContain('fluent-bit')
    expect(machine(logs()).packageSources).toEqual([])
  })

  describe('with its configuration in etcd', () => {
    const ETCD = { keyPrefix: '/logs/', endpoints: ['10.0.0.9:2379'], caCertificate: 'ca\n' }
    const byPassword = machine(
      logs({
        forward: undefined,
        etcd: { ...ETCD, client: { username: 'logs', password: new Secret('pass: "word"') } },
      }),
    )
    const byCertificate = machine(
      logs({ etcd: { ...ETCD, client: { certificate: 'certificate\n', key: new Secret('key\n') } } }),
    )
    const mirrorHome = '/etc/holdfast/fluent-bit-config'

    test('follows the prefix into a directory, and has systemd reload it', () => {
      const config = parse(textOf(byCertificate, `${mirrorHome}/config.yml`))
      expect(config).toEqual({
        filesystem: {
          ...{ path: `${HOME}/dynamic-config`, files_permission: '0600', directories_permission: '0700' },
          keep: ['index.conf'],
        },
        etcd_client: {
          prefix: '/logs/',
          endpoints: ['https://10.0.0.9:2379'],
          auth: {
            ca_cert: `${mirrorHome}/etcd-ca.pem`,
            client_cert: `${mirrorHome}/etcd-client.pem`,
            client_key: `${mirrorHome}/etcd-client.key`,
          },
        },
        notification_command: ['systemctl', 'try-reload-or-restart', 'holdfast-fluent-bit.service'],
        notification_command_retries: 30,
      })
      expect(serviceOf(byCertificate, 'fluent-bit-config')?.command).toEqual([
        ...['/opt/node', '/opt/main.js', 'publish', 'zonefiles', '--config', `${mirrorHome}/config.yml`],
      ])
      expect(fileOf(byCertificate, `${mirrorHome}/etcd-client.key`)).toMatchObject({ mode: 0o600, owner: 'root' })
    })

    test('logs in with a password from a file of its own', () => {
      const file = fileOf(byPassword, `${mirrorHome}/etcd-password.yml`)
      expect(file).toMatchObject({ mode: 0o600, onChange: { restart: 'fluent-bit-config' } })
      expect(parse(reveal(file.content))).toEqual({ username: 'logs', password: 'pass: "word"' })
      expect(show(file.content)).not.toContain('pass:')
      expect(parse(textOf(byPassword, `${mirrorHome}/config.yml`)).etcd_client.auth.password_auth).toBe(file.path)
    })

    test('has the defaults in effect until something has come', () => {
      expect(textOf(byCertificate, `${HOME}/fluent-bit.conf`)).toBe(`@INCLUDE ${HOME}/dynamic-config/index.conf\n`)
      const index = fileOf(byCertificate, `${HOME}/dynamic-config/index.conf`)
      expect(index.isInitial).toBe(true)
      expect(reveal(index.content)).toContain(
        '@INCLUDE /etc/fluent-bit-customization/default-config/fluent-bit-output.conf',
      )
    })

    test('needs no receiver in the stack file', () => {
      expect(sections(textOf(byPassword, `${HOME}/default-config/fluent-bit-output.conf`))).toEqual([])
      expect(serviceOf(byPassword, 'fluent-bit')).not.toHaveProperty('environmentFiles')
    })

    test('makes each directory once', () => {
      const paths = byCertificate.directories.map(({ path }) => path)
      expect(paths).toEqual([...new Set(paths)])
      expect(paths).toContain('/etc/holdfast')
    })
  })
})

describe('fluentd', () => {
  test('reads the journal and sends over TLS', () => {
    const made = machine(logs({ agent: 'fluentd', tags: { etcd: 'lab.etcd' } }))
    const text = textOf(made, '/etc/fluentd/fluentd.conf')
    expect(text).toContain('  tag lab.etcd\n')
    expect(text).toContain('  matches [{"_SYSTEMD_UNIT":"holdfast-etcd.service"}]\n')
    expect(text).toContain('  matches [{"_SYSTEMD_UNIT":"holdfast-node-exporter.service"}]\n')
    expect(text).toContain('    host logs.example\n    port 24224\n')
    expect(text).toContain(`    self_hostname etcd-1\n    shared_key "#{ENV['HOLDFAST_SHARED_KEY']}"\n`)
    expect(text).toContain('  <buffer tag>\n    @type memory\n')
    expect(fileOf(made, '/etc/fluentd/forward.env').mode).toBe(0o600)
    expect(serviceOf(made, 'fluentd')).toMatchObject({
      command: ['/opt/fluent/bin/fluentd', '--config', '/etc/fluentd/fluentd.conf'],
      environmentFiles: ['/etc/fluentd/forward.env'],
    })
  })

  test('checks the name of the receiver, where it is a name', () => {
    const verifies = (domain: string) =>
      textOf(machine(logs({ agent: 'fluentd', forward: { ...FORWARD, domain } })), '/etc/fluentd/fluentd.conf')
    expect(verifies('logs.example')).toContain('  tls_verify_hostname true\n')
    expect(verifies('192.0.2.1')).toContain('  tls_verify_hostname false\n')
  })

  test('has the buffer of the stack file as it stands there', () => {
    const buffer = '<buffer tag>\n@type file\npath /var/lib/fluentd/buffer\n</buffer>'
    const text = textOf(machine(logs({ agent: 'fluentd', buffer })), '/etc/fluentd/fluentd.conf')
    expect(text).toContain(`\n${buffer}\n</match>\n`)
    expect(text.match(/<buffer/gu)).toHaveLength(1)
  })

  test('is fluent-package, where the stack file says where that is', () => {
    const source = { name: 'fluentd', source: 'deb https://packages.example bookworm main', key: 'key' }
    expect(machine(logs({ agent: 'fluentd', packageSource: source })).packages).toContain('fluent-package')
  })
})
