// Machines as definitions and volumes, without ever starting one: what is made, read back, and left when somebody is interrupted.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { messageOf } from '../../src/lib/errors.ts'
import { Secret } from '../../src/lib/secret.ts'
import { content } from '../../src/machine/content.ts'
import type { Hardware } from '../../src/machine/hardware.ts'
import type { Machine } from '../../src/machine/machine.ts'
import type { Hypervisor } from '../../src/targets/libvirt/hypervisor.ts'
import { buildIso } from '../../src/targets/libvirt/iso-image.ts'
import { LibvirtTarget } from '../../src/targets/libvirt/libvirt-target.ts'
import { PROGRAM } from '../../src/targets/libvirt/placement.ts'
import { openHypervisor } from '../../src/targets/libvirt/virsh.ts'
import { programCommand } from '../../src/targets/program.ts'
import { describeWithLibvirt } from '../support/describe-with-libvirt.ts'
import { LibvirtLab } from '../support/libvirt-lab.ts'
import { file, machine, service } from '../support/local-stack.ts'
import { HARDWARE } from '../support/machine-spec.ts'

const URI = 'qemu:///system'
const NETWORK = { name: 'stack', subnet: '10.75.0' } as const
/** Calls that change something. */
const CHANGES: readonly (keyof Hypervisor)[] = [
  ...(['define', 'undefine', 'setMetadata', 'autostart'] as const),
  ...(['createVolume', 'upload', 'deleteVolume', 'changeMedia'] as const),
]

const SLOW_MS = 300_000

async function isCut(work: Promise<void>): Promise<boolean> {
  try {
    await work
    return false
  } catch (error) {
    expect(messageOf(error)).toBe('cut')
    return true
  }
}

describeWithLibvirt('machines that are switched off', () => {
  let lab: LibvirtLab
  let pool: string
  let temporary: string
  const ending = new AbortController()

  beforeAll(async () => {
    lab = await LibvirtLab.start()
    pool = await lab.pool('default')
    await lab.network(NETWORK)
    temporary = mkdtempSync(join(lab.directory, 'temporary-'))
    await lab.virsh('vol-create-as', 'default', 'base.qcow2', '64M', '--format', 'qcow2')
    await lab.virsh('vol-create-as', 'default', 'data.qcow2', '64M', '--format', 'qcow2')
  })
  afterEach(async () => {
    for (const name of (await open().machines()).keys()) await open().remove(name, { keepData: false })
    expect(await leftovers()).toEqual({ domains: '', volumes: ['base.qcow2', 'data.qcow2'], files: [] })
  })
  afterAll(async () => {
    ending.abort()
    await lab.close()
  })

  /** `failAt`: the connection breaks at this change, counted from 1. */
  function open({ failAt = Infinity } = {}): LibvirtTarget {
    const { signal } = ending
    const hypervisor = openHypervisor(URI, { signal, env: { PATH: process.env.PATH }, prefix: lab.wrap([]) })
    let count = 0
    const breaking = new Proxy(hypervisor, {
      get: (of, name: keyof Hypervisor) => {
        const value = of[name]
        if (typeof value !== 'function') return value
        const call = value.bind(of) as (...args: unknown[]) => Promise<unknown>
        if (!CHANGES.includes(name)) return call
        return async (...args: unknown[]) => {
          if (++count >= failAt) throw new Error('cut')
          return call(...args)
        }
      },
    })
    return new LibvirtTarget({
      ...{ stack: 's', hypervisors: [breaking], hardware: new Map(), temporary, signal },
      chooseType: () => Promise.resolve('qemu'),
      onPhase: () => undefined,
    })
  }

  function made(text: string, hardware: Partial<Hardware> = {}, parts: Partial<Machine> = {}): Machine {
    const networks: Hardware['networks'] = [
      {
        attach: { networkName: NETWORK.name },
        ip: `${NETWORK.subnet}.11`,
        ...{ mac: undefined, prefixLength: undefined, gateway: undefined, dnsServers: [] },
      },
    ]
    return machine('m', [service('a', 'exec sleep 100')], {
      hardware: { ...HARDWARE, memoryMib: 256, baseVolume: 'base.qcow2', networks, ...hardware },
      address: `${NETWORK.subnet}.11`,
      directories: [{ path: '/var/lib/app', owner: 'app', mode: 0o700, isData: true }],
      files: [
        { ...file('/etc/app.conf', '', { restart: 'a' }, 0o600), content: content`${new Secret(text)}\n` },
        { ...file('/etc/first', text), isInitial: true },
      ],
      ...parts,
    })
  }

  async function leftovers() {
    const domains = (await lab.virsh('list', '--all', '--name')).trim()
    return { domains, volumes: readdirSync(pool).toSorted(), files: readdirSync(temporary) }
  }

  const texts = async (target = open()) =>
    [...((await target.read()).get('m')?.files ?? [])].map(([path, { text, mode }]) => [path, text, mode])

  test('what was written is read back, and nothing secret is in the metadata', async () => {
    await open().write(made('geheim'))
    expect((await open().read()).get('m')).toMatchObject({
      ...{ name: 'm', kind: 'etcd', address: '10.75.0.11', services: [], pending: new Map() },
      directories: new Map([['/var/lib/app', { owner: 'app', mode: 0o700, isData: true }]]),
    })
    expect(await texts()).toEqual([
      ['/etc/app.conf', 'geheim\n', 0o600],
      ['/etc/first', 'geheim', 0o644],
    ])
    expect(await lab.virsh('dumpxml', 's-m')).not.toContain('geheim')
    expect(await open().observe()).toEqual(new Map())
    expect(await open().isFilled('m')).toBe(false)
  })

  test('another write changes what differs, and the same again changes nothing', async () => {
    await open().write(made('one'))
    const first = await lab.virsh('dumpxml', 's-m')
    await open({ failAt: 1 }).write(made('one'))
    expect(await lab.virsh('dumpxml', 's-m')).toBe(first)
    await open().write(made('two'))
    expect(await texts()).toEqual([
      ['/etc/app.conf', 'two\n', 0o600],
      ['/etc/first', 'one', 0o644],
    ])
    const instance = /instanceId[^,]*/u
    expect(instance.exec(await lab.virsh('dumpxml', 's-m'))?.[0]).toBe(instance.exec(first)?.[0])
  })

  test('whoever is interrupted while a machine is made leaves one that a second run completes', {
    timeout: SLOW_MS,
  }, async () => {
    for (let failAt = 1; await isCut(open({ failAt }).write(made('one'))); failAt++) {
      // What there is has an owner.
      expect((await leftovers()).domains).toBe(failAt === 1 ? '' : 's-m')
      await open().write(made('one'))
      expect(await texts()).toHaveLength(2)
      await open().remove('m', { keepData: false })
      expect((await leftovers()).volumes).toEqual(['base.qcow2', 'data.qcow2'])
    }
  })

  test('whoever is interrupted while a machine is changed leaves one that a second run changes', {
    timeout: SLOW_MS,
  }, async () => {
    const changed = made('two', { memoryMib: 128 })
    const changing = async (failAt: number) => {
      await open().write(made('one'))
      return isCut(open({ failAt }).write(changed))
    }
    for (let failAt = 1; await changing(failAt); failAt++) {
      await open().write(changed)
      expect((await texts())[0]).toEqual(['/etc/app.conf', 'two\n', 0o600])
    }
  })

  test('whoever is interrupted while a machine is removed leaves one that a second run removes', async () => {
    await open().write(made('one'))
    for (let failAt = 1; await isCut(open({ failAt }).remove('m', { keepData: false })); failAt++)
      expect([...(await open().machines()).keys()]).toEqual(['m'])
  })

  test('a cloud-init volume that is gone or another one leaves a machine without files, until it is written again', async () => {
    await open().write(made('one'))
    await lab.virsh('vol-delete', 's-m-cloud-init.iso', '--pool', 'default')
    expect(await texts()).toEqual([])
    await open().write(made('one'))
    expect(await texts()).toHaveLength(2)
    await lab.done(['dd', 'if=/dev/zero', `of=${pool}/s-m-cloud-init.iso`, 'bs=1M', 'count=4'])
    expect(await texts()).toEqual([])
    await open().write(made('one'))
    expect(await texts()).toHaveLength(2)
  })

  test('texts that outgrow their volume get a larger one', async () => {
    await open().write(made('one'))
    const long = 'long '.repeat(1_000_000)
    await open().write(made(long, { dataVolumeId: undefined }))
    expect((await texts())[0][1]).toBe(`${long}\n`)
  })

  test('hardware that changes is told, and changed at the next start or left to be replaced', async () => {
    await open().write(made('one', { vcpus: 1 }))
    const changes = async (machine: Machine) => (await open().compareHardware([machine])).get(machine.name)
    expect(await changes(made('one', { vcpus: 1 }))).toEqual([])
    const larger = made('one', { vcpus: 2, memoryMib: 320 })
    expect((await changes(larger))?.map(({ name, takes }) => [name, takes])).toEqual([
      ['vcpus', 'next start'],
      ['memory', 'next start'],
    ])
    await open().write(larger)
    expect(await changes(larger)).toEqual([])
    expect(await lab.virsh('dominfo', 's-m')).toMatch(/CPU\(s\): +2\n.*Max memory: +327680 KiB/su)
    const other = { ...larger, hardware: { ...larger.hardware, dataVolumeId: `${pool}/data.qcow2` } }
    await open().write(other)
    expect((await changes(other))?.map(({ name, takes }) => [name, takes])).toEqual([['data_volume_id', 'replace']])
  })

  test('one whose domain was removed by hand is taken up again, with its disks', async () => {
    await open().write(made('one'))
    const instance = async () => /"instanceId":"([^"]+)"/u.exec(await lab.virsh('dumpxml', 's-m'))?.[1]
    const [before, disk] = [await instance(), statSync(join(pool, 's-m.qcow2')).ino]
    await lab.virsh('undefine', 's-m')
    expect((await open().read()).size).toBe(0)
    await open().write(made('two'))
    expect([await instance(), statSync(join(pool, 's-m.qcow2')).ino]).toEqual([before, disk])
    expect(await texts()).toEqual([
      ['/etc/app.conf', 'two\n', 0o600],
      ['/etc/first', 'one', 0o644],
    ])
    // What its disk was made of is still known.
    await lab.virsh('undefine', 's-m')
    const larger = made('two', { volumeSizeGib: 1 })
    await open().write(larger)
    expect((await open().compareHardware([larger])).get('m')?.map(({ name, takes }) => [name, takes])).toEqual([
      ['volume_size', 'replace'],
    ])
  })

  test('a damaged record of one whose domain was removed is told', async () => {
    await open().write(made('one'))
    await lab.virsh('undefine', 's-m')
    const seed = join(lab.directory, 'seed')
    mkdirSync(seed)
    writeFileSync(join(seed, 'record.json'), '{}')
    await buildIso({ file: join(pool, 's-m-cloud-init.iso'), label: 'cidata', directory: seed }, ending.signal)
    await expect(open().write(made('one'))).rejects.toThrow(
      'Cannot read "record.json" on volume "default/s-m-cloud-init.iso"',
    )
    for (const name of ['s-m-cloud-init.iso', 's-m.qcow2']) await lab.virsh('vol-delete', name, '--pool', 'default')
  })

  test('what others have changed in its definition is put right', async () => {
    await open().write(made('one', { vcpus: 2 }))
    await lab.virsh('setvcpus', 's-m', '1', '--config')
    await open().write(made('one', { vcpus: 2 }))
    expect(await lab.virsh('dumpxml', 's-m')).toMatch(/<vcpu[^>]*>2</u)
    expect(await lab.virsh('dumpxml', 's-m')).not.toContain("current='1'")
  })

  test('one whose first boot nobody saw end keeps its disk, as it may have been used since', async () => {
    await open().write(made('one'))
    const id = async () => /"instanceId":"([^"]+)"/u.exec(await lab.virsh('dumpxml', 's-m'))?.[1]
    const [before, disk] = [await id(), statSync(join(pool, 's-m.qcow2')).ino]
    const record = /<holdfast:machine[^>]*>(.*)<\/holdfast:machine>/u.exec(await lab.virsh('dumpxml', 's-m'))?.[1] ?? ''
    const booted = record.replace('{', '{"hasBooted":true,')
    await lab.virsh(
      ...['metadata', 's-m', '--uri', 'urn:holdfast:machine:1', '--key', 'holdfast', '--config'],
      ...['--set', `<machine>${booted}</machine>`],
    )
    await open().write(made('two'))
    expect(await id()).toBe(before)
    expect(statSync(join(pool, 's-m.qcow2')).ino).toBe(disk)
    expect(await texts()).toHaveLength(2)
  })

  test('one that could not be switched on has not booted', async () => {
    const machine = made('one', { volumeId: `${pool}/data.qcow2`, baseVolume: undefined })
    await open().write(machine)
    rmSync(join(pool, 's-m-cloud-init.iso'))
    await expect(open().start(machine)).rejects.toThrow('s-m-cloud-init.iso')
    expect(await lab.virsh('dumpxml', 's-m')).not.toContain('hasBooted')
  })

  test('a volume of the same name that nothing says is ours is left alone', async () => {
    writeFileSync(join(pool, 's-m.qcow2'), 'precious')
    await lab.virsh('pool-refresh', 'default')
    await expect(open().write(made('one'))).rejects.toThrow(expect.objectContaining({ code: 'VolumeForeign' }))
    expect(readFileSync(join(pool, 's-m.qcow2'), 'utf8')).toBe('precious')
    rmSync(join(pool, 's-m.qcow2'))
    await lab.virsh('pool-refresh', 'default')
  })

  test('a record that was damaged keeps nobody from the others, and is told', async () => {
    await open().write(made('one'))
    await lab.define(
      `<domain type='qemu'><name>s-broken</name><memory unit='MiB'>64</memory><os><type>hvm</type></os>
      <metadata><h:machine xmlns:h="urn:holdfast:machine:1">{"stack":"s",</h:machine></metadata></domain>`,
    )
    const target = open()
    expect([...(await target.machines()).keys()]).toEqual(['m'])
    expect(target.unread()).toMatchObject([
      { where: 'domain "s-broken" on qemu:///system', error: { code: 'StateInvalid' } },
    ])
    await target.stop('m')
    await lab.virsh('undefine', 's-broken')
  })

  test('our own program is on the hypervisor as long as a machine has it', { timeout: SLOW_MS }, async () => {
    const services = [{ ...service('dns', ''), command: [...programCommand(PROGRAM.home), 'dns'] }]
    await open().write(made('one', {}, { services }))
    const volumes = () => readdirSync(pool).filter((name) => name.startsWith('holdfast-program-'))
    expect(volumes()).toHaveLength(1)
    // As on a pool that compresses: it takes less room than it has bytes.
    await lab.done(['fallocate', '--dig-holes', join(pool, volumes()[0])])
    await open({ failAt: 1 }).write(made('one', {}, { services }))
    // Somebody was interrupted before its end.
    await lab.done(['truncate', '-s', '-2048', join(pool, volumes()[0])])
    await lab.done(['truncate', '-s', '+2048', join(pool, volumes()[0])])
    await expect(open({ failAt: 1 }).write(made('one', {}, { services }))).rejects.toThrow('cut')
    await open().write(made('one', {}, { services }))
    await open().write(made('one'))
    expect(volumes()).toEqual([])
  })
})
