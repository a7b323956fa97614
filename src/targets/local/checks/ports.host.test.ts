import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer, type ListenOptions } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { freePort } from '../../../../test/support/ports.ts'
import type { HostMachine } from './host-machine.ts'
import { checkAddresses, checkPorts } from './ports.ts'
import { processesBelow, runningMachines } from './processes.ts'

const nobody: ReadonlySet<number> = new Set()
const isRoot = process.getuid?.() === 0
const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

function machine(name: string, address: string, ports: HostMachine['ports']): HostMachine {
  return { name, kind: 'etcd', address, packages: [], services: [], ports }
}

function tcp(port: number, purpose = 'etcd clients'): HostMachine['ports'][number] {
  return { port, protocol: 'tcp', purpose }
}

async function listenTcp(options: ListenOptions): Promise<void> {
  const server = createServer().listen(options)
  closers.push(() => server.close())
  await once(server, 'listening')
}

async function listenUdp(address: string, port: number): Promise<void> {
  const socket = createSocket('udp4').bind(port, address)
  closers.push(() => socket.close())
  await once(socket, 'listening')
}

/** A process that listens there and works in `directory`. */
async function startListener(directory: string, address: string, port: number): Promise<ChildProcess> {
  const script = `require('node:net').createServer().listen(${port}, '${address}', () => console.log('listening'))`
  const child = spawn(process.execPath, ['-e', script], { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] })
  closers.push(() => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    return ended
  })
  await once(child.stdout, 'data')
  return child
}

describe('ports', () => {
  test('that nobody has are well, at every address of their own', async () => {
    const port = await freePort()
    await listenTcp({ host: '127.105.1.9', port })
    const ports = [tcp(port), { port, protocol: 'udp', purpose: 'DNS' }] as const
    const machines = [machine('etcd-1', '127.105.1.1', ports), machine('etcd-2', '127.105.1.2', ports)]
    expect(await checkPorts(machines, nobody, isRoot)).toEqual([
      { check: 'ports', state: 'ok', message: '4, all free' },
    ])
  })

  test('that another process has are told with that process', async () => {
    const port = await freePort()
    await listenTcp({ host: '127.105.2.1', port })
    const [finding, ...more] = await checkPorts([machine('etcd-1', '127.105.2.1', [tcp(port)])], nobody, isRoot)
    expect(finding.state).toBe('problem')
    expect(finding.message).toMatch(
      new RegExp(
        String.raw`^127\.105\.2\.1:${port}/tcp \(etcd clients of etcd-1\): in use by process ${process.pid} \(.*\)$`,
        'u',
      ),
    )
    expect(more).toEqual([])
  })

  test('of UDP and TCP are told apart', async () => {
    const port = await freePort()
    await listenUdp('127.105.3.1', port)
    const ports = [tcp(port), { port, protocol: 'udp', purpose: 'DNS' }] as const
    const findings = await checkPorts([machine('dns-1', '127.105.3.1', ports)], nobody, isRoot)
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        new RegExp(`^127.105.3.1:${port}/udp \\(DNS of dns-1\\): in use by process ${process.pid} `, 'u'),
      ),
    ])
  })

  test.each([
    ['IPv4', { host: '0.0.0.0' }],
    ['IPv6 with IPv4 in it', { host: '::' }],
  ])('that somebody has at all addresses (%s) are taken at each, which is one finding', async (_, options) => {
    const port = await freePort()
    await listenTcp({ ...options, port })
    const machines = Array.from({ length: 5 }, (_, index) =>
      machine(`etcd-${index}`, `127.105.4.${index + 1}`, [tcp(port)]),
    )
    const findings = await checkPorts(machines, nobody, isRoot)
    expect(findings).toHaveLength(1)
    expect(findings[0].message).toMatch(new RegExp(`of etcd-2\\) and 2 more: in use by process ${process.pid} `, 'u'))
  })

  test('that are taken for IPv6 alone are free', async () => {
    const port = await freePort()
    await listenTcp({ host: '::', port, ipv6Only: true })
    const [finding] = await checkPorts([machine('etcd-1', '127.105.5.1', [tcp(port)])], nobody, isRoot)
    expect(finding.state).toBe('ok')
  })

  test('that the stack itself has are no conflict; those of other stacks are', async () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-ports-')))
    closers.push(() => rmSync(directory, { recursive: true }))
    const place = join(directory, 'lab/machines/etcd-1/var/lib/etcd')
    mkdirSync(place, { recursive: true })
    mkdirSync(join(directory, 'lab-2'))
    const port = await freePort()
    const child = await startListener(place, '127.105.6.1', port)
    const wanted = [machine('etcd-1', '127.105.6.1', [tcp(port)])]

    const own = processesBelow(join(directory, 'lab'))
    expect([...own]).toEqual([[child.pid, 'machines/etcd-1/var/lib/etcd']])
    expect([...runningMachines(own)]).toEqual(['etcd-1'])
    expect(await checkPorts(wanted, new Set(own.keys()), isRoot)).toEqual([
      { check: 'ports', state: 'ok', message: '1, all free' },
    ])

    const other = processesBelow(join(directory, 'lab-2'))
    expect(other.size).toBe(0)
    const [finding] = await checkPorts(wanted, new Set(other.keys()), isRoot)
    expect(finding.message).toMatch(new RegExp(`in use by process ${child.pid} \\(node`, 'u'))
  })

  test('as low as 53 are refused to whoever has no right to them', async () => {
    const asNobody = async <T>(work: () => Promise<T>) => {
      if (!isRoot) return work()
      process.seteuid?.(65_534)
      try {
        return await work()
      } finally {
        process.seteuid?.(0)
      }
    }
    const wanted = [machine('dns-1', '127.105.7.1', [{ port: 53, protocol: 'udp', purpose: 'DNS' }])]
    const [finding] = await asNobody(() => checkPorts(wanted, nobody, false))
    expect(finding).toEqual({
      check: 'ports',
      state: 'problem',
      message: '127.105.7.1:53/udp (DNS of dns-1): ports as low as this are for root',
      fix: 'sudo sysctl net.ipv4.ip_unprivileged_port_start=53, or choose another port, or run as root',
    })
  })
})

describe('addresses', () => {
  test('below 127 are all this host', async () => {
    const machines = [machine('a', '127.105.8.1', []), machine('b', '127.105.8.2', []), machine('c', '127.105.8.2', [])]
    expect(await checkAddresses(machines)).toMatchObject({ state: 'ok', message: '127.105.8.1 and 1 more' })
  })

  test('of other hosts are told', async () => {
    const machines = [machine('a', '127.105.8.1', []), machine('b', '192.0.2.1', [])]
    expect(await checkAddresses(machines)).toMatchObject({
      state: 'problem',
      message: '192.0.2.1: no address of this host',
    })
  })
})
