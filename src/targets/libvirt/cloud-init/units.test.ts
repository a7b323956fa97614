import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { Machine, Service } from '../../../machine/machine.ts'
import type { Placement } from '../placement.ts'
import { commandLine, escapePath, quoteWord } from '../../../machine/systemd-text.ts'
import { renderUnits } from './units.ts'
import { HARDWARE } from '../../../../test/support/machine-spec.ts'
import { needing } from '../../../../test/support/needing.ts'
import { placementOf } from '../../../../test/support/cloud-init-examples.ts'

const service: Service = {
  name: 'etcd',
  user: 'etcd',
  command: ['/usr/bin/etcd', '--name', 'a b'],
  environment: { LANG: 'C.UTF-8', MESSAGE: '100% of $HOME' },
  environmentFiles: ['/etc/etcd/etcd.env'],
  stopSignal: 'SIGTERM',
  stopTimeoutMs: 10_000,
}

function unitsOf(services: readonly Service[], change: Partial<Machine> = {}, kind: Placement['kind'] = 'qemu') {
  const machine: Machine = {
    name: 'm-1',
    kind: 'etcd',
    address: '10.0.0.1',
    hardware: HARDWARE,
    packages: [],
    directories: [{ path: '/var/lib/etcd-a', owner: 'etcd', mode: 0o700, isData: true }],
    files: [],
    services,
    ports: [],
    ...change,
  }
  return new Map(renderUnits(machine, placementOf(machine, 'lab', kind)).map(({ name, text }) => [name, text]))
}

test('a service is a unit that is started again whenever it ends', () => {
  expect(unitsOf([service]).get('holdfast-etcd.service')).toBe(`[Unit]
Description=etcd of m-1 (Holdfast)
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
Restart=always
RestartSec=1
User=etcd
Environment=LANG=C.UTF-8
Environment="MESSAGE=100%% of $HOME"
EnvironmentFile=/etc/etcd/etcd.env
ExecStart=/usr/bin/etcd --name "a b"
KillMode=mixed
KillSignal=SIGTERM
TimeoutStopSec=10000ms
LimitNOFILE=65536
NoNewPrivileges=yes

[Install]
WantedBy=multi-user.target
`)
})

test('a step comes after the services before it, and is tried until it is done or makes no sense', () => {
  const text = unitsOf([service, { ...service, name: 'etcd-auth', once: true }]).get('holdfast-etcd-auth.service')
  expect(text).toContain('After=network-online.target holdfast-etcd.service\n')
  expect(text).toContain('Type=oneshot\nRemainAfterExit=yes\nRestart=on-failure\n')
  expect(text).toContain('RestartPreventExitStatus=78\n')
})

test('a step holds up no service after it, and an old one is not started because of a later one', () => {
  const step = { ...service, name: 'etcd-auth', once: true }
  const text = unitsOf([service, step, { ...service, name: 'node-exporter' }]).get('holdfast-node-exporter.service')
  expect(text).toContain('Wants=network-online.target\nAfter=network-online.target holdfast-etcd.service\n')
})

test('PostgreSQL stays when Patroni is killed, and has a watchdog in a virtual machine', () => {
  const patroni: Service = { ...service, name: 'patroni', reloadSignal: 'SIGHUP' }
  const unit = (kind: Placement['kind']) =>
    unitsOf([patroni], { kind: 'postgres' }, kind).get('holdfast-patroni.service')
  expect(unit('qemu')).toContain('KillMode=process\n')
  expect(unit('qemu')).toContain("ExecStartPre=+-/bin/sh -c '/sbin/modprobe i6300esb || /sbin/modprobe softdog'\n")
  expect(unit('qemu')).toContain('ExecReload=/bin/kill -HUP $MAINPID\n')
  expect(unit('lxc')).not.toContain('modprobe')
})

test('no service starts before its data disk is mounted', () => {
  const hardware = { ...HARDWARE, dataVolumeId: '/images/data' }
  const units = unitsOf([service], { hardware })
  expect([...units.keys()]).toEqual([
    'holdfast-data-disk.service',
    'var-lib-etcd\\x2da.mount',
    'holdfast-data.service',
    'holdfast-etcd.service',
  ])
  expect(units.get('holdfast-etcd.service')).toMatch(
    /^Requires=holdfast-data.service\nAfter=.* holdfast-data.service$/mu,
  )
  const exporter = { ...service, name: 'node-exporter', isOfHost: true } as const
  expect(unitsOf([service, exporter], { hardware }).get('holdfast-node-exporter.service')).not.toContain(
    'holdfast-data',
  )
  expect([...unitsOf([service], { hardware }, 'lxc').keys()]).toEqual([
    'holdfast-data.service',
    'holdfast-etcd.service',
  ])
})

test('our own program is put in place before a service that needs it starts', () => {
  const dns = { ...service, name: 'dns', command: ['/opt/holdfast/program/abc/node', 'x'], bindsLowPorts: true }
  const units = unitsOf([dns])
  expect(units.get('holdfast-program.service')).toContain('install-program.sh abc\n')
  expect(units.get('holdfast-dns.service')).toContain('Wants=network-online.target holdfast-program.service\n')
  expect(units.get('holdfast-dns.service')).toContain('AmbientCapabilities=CAP_NET_BIND_SERVICE\n')
})

test('the place of a mount is written as systemd takes it', () => {
  const directories = [{ path: '/srv/a b/100%', owner: 'etcd', mode: 0o700, isData: true }]
  const units = unitsOf([service], { hardware: { ...HARDWARE, dataVolumeId: '/images/data' }, directories })
  expect(units.get(String.raw`srv-a\x20b-100\x25.mount`)).toContain('\nWhere=/srv/a b/100%%\n')
})

test('words mean nothing to systemd but themselves', () => {
  expect(commandLine(['/bin/echo', '50%', '$HOME', 'a"b\\c', "it's", '', ';', '\n'])).toBe(
    String.raw`/bin/echo 50%% $$HOME "a\"b\\c" "it's" "" ";" "\n"`,
  )
  expect(quoteWord('A=$x y')).toBe('"A=$x y"')
})

needing('systemd-escape').test('paths are names of units as systemd-escape makes them', () => {
  const paths = ['/var/lib/etcd', '/var/lib/postgresql/15', '/dev/disk/by-id/virtio-holdfast-data', '/.a/b c', '/ä/']
  const escaped = execFileSync('systemd-escape', ['--path', ...paths], { encoding: 'utf8' })
    .trim()
    .split(' ')
  expect(paths.map(escapePath)).toEqual(escaped)
})
