// The hypervisor by virsh against a libvirtd of our own. Machines have no disk to boot from: they run and do nothing.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Hypervisor, Volume } from '../../src/targets/libvirt/hypervisor.ts'
import { openHypervisor } from '../../src/targets/libvirt/virsh.ts'
import { listNetworkDevices } from '../../src/targets/libvirt/virsh-interfaces.ts'
import { VirshProcess } from '../../src/targets/libvirt/virsh-process.ts'
import { describeWithLibvirt } from '../support/describe-with-libvirt.ts'
import { LibvirtLab } from '../support/libvirt-lab.ts'
import { until } from '../support/until.ts'

const QEMU = 'qemu:///system'
const never = new AbortController().signal

describeWithLibvirt('a hypervisor by virsh', () => {
  let lab: LibvirtLab
  let pool: string
  let disk: string
  let qemu: Hypervisor

  const open = (uri: string, prefix: readonly string[] = lab.wrap([])) =>
    openHypervisor(uri, { signal: never, env: process.env, prefix })
  const element = (text: string) => `<h:machine xmlns:h="urn:holdfast:machine:1">${text}</h:machine>`
  const named = async (name: string) => (await qemu.domains()).find((domain) => domain.name === name)

  beforeAll(async () => {
    lab = await LibvirtLab.start()
    pool = await lab.pool('pool')
    disk = join(lab.directory, 'empty.iso')
    writeFileSync(disk, Buffer.alloc(4096))
    await lab.network({ name: 'net', subnet: '10.77.0' })
    qemu = open(QEMU)
  })

  afterAll(() => lab.close())

  test('the host says what it is', async () => {
    const host = await qemu.host()
    expect(host).toMatchObject({ arch: process.arch === 'arm64' ? 'aarch64' : 'x86_64', security: ['dac'] })
    expect(host.domainTypes).toContain('qemu')
    expect(host.cpus).toBeGreaterThan(0)
    expect(host.freeMemoryMib).toBeGreaterThan(0)
    expect(host.memoryMib).toBeGreaterThanOrEqual(host.freeMemoryMib)
    expect((await open('lxc:///system').host()).domainTypes).toEqual(['lxc'])
  })

  test('networks, pools and interfaces are those of libvirt', async () => {
    expect(await qemu.networks()).toMatchObject([
      {
        name: 'net',
        isActive: true,
        forward: undefined,
        addresses: [{ address: '10.77.0.1', prefixLength: 24 }],
        ranges: [{ first: '10.77.0.200', last: '10.77.0.220' }],
      },
    ])
    expect(await qemu.pools()).toMatchObject([{ name: 'pool', isActive: true, type: 'dir', path: pool }])
    expect(await qemu.hostInterfaces()).toEqual(expect.arrayContaining(['lo', 'br-net']))
  })

  test('a domain lives from its definition to its end', async () => {
    const name = `odd 'name' "of" one; echo $HOME`
    await qemu.define(domainXml(name, disk))
    const defined = await named(name)
    expect(defined).toMatchObject({ state: 'shut off', isPersistent: true, isAutostarted: false, live: undefined })
    expect(defined?.definition).toEqual({
      type: 'qemu',
      vcpus: 1,
      memoryMib: 64,
      maxMemoryMib: 64,
      macs: ['52:54:00:aa:bb:01'],
      disks: [disk],
    })

    await qemu.start(name)
    await qemu.start(name)
    await qemu.autostart(name, true)
    expect(await named(name)).toMatchObject({ state: 'running', isAutostarted: true, live: defined?.definition })
    expect(await qemu.state(name)).toEqual({ state: 'running' })
    await lab.virsh('suspend', '--domain', name)
    expect(await named(name)).toMatchObject({ state: 'paused', reason: 'user', live: defined?.definition })

    expect(await qemu.state(name)).toEqual({ state: 'paused', reason: 'user' })
    await qemu.destroy(name)
    await qemu.destroy(name)
    await qemu.shutdown(name)
    await qemu.autostart(name, false)
    expect(await named(name)).toMatchObject({ state: 'shut off', isAutostarted: false })
    await qemu.undefine(name)
    expect(await named(name)).toBeUndefined()
    expect(await qemu.state(name)).toBeUndefined()
    await expect(qemu.start(name)).rejects.toMatchObject({ code: 'DomainMissing' })
  })

  test('metadata of ours is kept with the domain, at once and for later starts', async () => {
    await qemu.define(domainXml('meta', disk))
    expect((await named('meta'))?.metadata).toBeUndefined()
    await qemu.setMetadata('meta', element('off'))
    expect((await named('meta'))?.metadata).toBe('off')
    await qemu.start('meta')
    await qemu.setMetadata('meta', element(`{"a":"ü'&lt;&amp;\\";"}`))
    expect((await named('meta'))?.metadata).toBe(`{"a":"ü'<&\\";"}`)
    expect(await lab.virsh('dumpxml', 'meta')).toContain(`{"a":"ü'&lt;&amp;\\";"}`)
    await qemu.destroy('meta')
    expect((await named('meta'))?.metadata).toBe(`{"a":"ü'<&\\";"}`)
  })

  test('a CD-ROM drive gets another volume, whether the machine runs or not', async () => {
    await qemu.define(domainXml('drive', disk))
    const isos = ['one.iso', 'two.iso'].map((file) => join(pool, file))
    for (const iso of isos) writeFileSync(iso, Buffer.alloc(4096))
    await qemu.changeMedia('drive', 'sda', isos[0])
    expect((await named('drive'))?.definition.disks).toEqual([isos[0]])
    await qemu.start('drive')
    await qemu.changeMedia('drive', 'sda', isos[1])
    expect(await named('drive')).toMatchObject({ definition: { disks: [isos[1]] }, live: { disks: [isos[1]] } })
    await qemu.destroy('drive')
  })

  test('a volume is made, filled, read, found and deleted', async () => {
    const made = await qemu.createVolume({ pool: 'pool', name: 'base', format: 'raw', capacityBytes: 1_048_576 })
    expect(made).toMatchObject({
      path: join(pool, 'base'),
      format: 'raw',
      capacityBytes: 1_048_576,
      allocationBytes: 0,
    })
    const [source, copy] = ['source', 'copy'].map((name) => join(lab.directory, name))
    writeFileSync(source, Buffer.concat([Buffer.from('begin'), Buffer.alloc(600_000), Buffer.from('end')]))
    await qemu.upload(made, source)
    await qemu.download(made, copy)
    expect(readFileSync(copy).subarray(0, 600_008).equals(readFileSync(source))).toBe(true)

    await qemu.download(made, copy, { offset: 600_005, length: 3 })
    expect(readFileSync(copy, 'utf8')).toBe('end')

    expect(await qemu.findVolume('pool/base')).toMatchObject({ key: made.key, pool: 'pool' })
    expect(await qemu.findVolume(made.key)).toMatchObject({ name: 'base', pool: 'pool' })
    const overlay = { pool: 'pool', name: 'top', format: 'qcow2', capacityBytes: 2_097_152, backing: made } as const
    expect(await qemu.createVolume(overlay)).toMatchObject({ format: 'qcow2', capacityBytes: 2_097_152 })
    expect(await lab.done(['qemu-img', 'info', join(pool, 'top')])).toMatch(/backing file: .*base[\s\S]*format: raw/u)
    await expect(qemu.createVolume(overlay)).rejects.toMatchObject({ code: 'LibvirtFailed' })

    for (const name of ['top', 'base']) await qemu.deleteVolume((await qemu.findVolume(`pool/${name}`)) as Volume)
    await qemu.deleteVolume(made)
    for (const id of ['pool/base', made.key, 'nopool/base', 'base']) expect(await qemu.findVolume(id)).toBeUndefined()
  })

  test('an agent that is not there is silent', async () => {
    await qemu.define(domainXml('agent', disk))
    const ping = () => qemu.agent('agent', { execute: 'guest-ping' }, 1000)
    await expect(ping()).rejects.toMatchObject({ code: 'GuestSilent', retryable: true })
    await qemu.start('agent')
    await expect(ping()).rejects.toMatchObject({ code: 'GuestSilent', retryable: true })
    // Its power button is left.
    await qemu.shutdown('agent')
    await qemu.destroy('agent')
    await expect(qemu.agent('no such', { execute: 'guest-ping' }, 1000)).rejects.toMatchObject({
      code: 'DomainMissing',
    })
  })

  test('what may hold a secret comes through whole, and stays neither in a file nor in arguments', async () => {
    const home = join(lab.directory, 'home')
    mkdirSync(home)
    const { PATH } = process.env
    const virsh = new VirshProcess(QEMU, { signal: never, env: { PATH, HOME: home }, prefix: lab.wrap([]) })
    const secret = `{"a":"s3cret ' \\" \\\\ ; $HOME !x #y ${'z'.repeat(90_000)}"}`
    const asked = { action: 'try', timeoutMs: 10_000 }
    const answer = await virsh.askInSecret(['echo', secret], asked)
    expect('output' in answer && answer.output === secret).toBe(true)
    expect(await lab.run(['grep', '-r', 's3cret', home])).toMatchObject({ code: 1, stdout: '' })
  })

  test('two hundred domains are read with two processes, some of which go away meanwhile', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `many-${index}`)
    const files = names.map((name) => {
      const file = join(lab.directory, `${name}.xml`)
      writeFileSync(file, plainXml(name))
      return file
    })
    await lab.virsh(files.map((file) => `define ${file}`).join('; '))
    const counted = countedWrap(lab)
    const manyAt = async () =>
      (await open(QEMU, counted.words).domains()).filter(({ name }) => name.startsWith('many-'))
    expect(await manyAt()).toHaveLength(200)
    expect(counted.count()).toBe(2)

    const going = lab.virsh(
      names
        .slice(50)
        .map((name) => `undefine ${name}`)
        .join('; '),
    )
    while ((await manyAt()).length > 50) expect(counted.count()).toBeGreaterThan(2)
    await going
    expect((await manyAt()).map(({ name }) => name).toSorted()).toEqual(names.slice(0, 50).toSorted())
    await lab.virsh(
      names
        .slice(0, 50)
        .map((name) => `undefine ${name}`)
        .join('; '),
    )
  })

  test('a container is entered with input, output and exit code', async () => {
    const lxc = open('lxc:///system')
    await lxc.define(containerXml('box', emptyRoot(lab)))
    const enter = (...command: string[]) =>
      lxc.enter('box', command, { timeoutMs: 10_000, input: Buffer.from('given') })
    await expect(enter('true')).rejects.toMatchObject({ code: 'GuestSilent', retryable: true })
    await lxc.setMetadata('box', element('off'))
    expect((await lxc.domains())[0].metadata).toBe('off')
    await lxc.start('box')
    await lxc.setMetadata('box', element('on'))
    expect((await lxc.domains())[0].metadata).toBe('on')
    expect(await enter('sh', '-c', 'cat; hostname; echo wrong >&2; exit 7')).toEqual({
      code: 7,
      output: 'givenbox\n',
      errors: 'wrong\n',
    })
    expect(await enter('/no/such')).toMatchObject({ code: 127, output: '' })
    expect(await enter('sh', '-c', 'kill -9 $$')).toMatchObject({ code: 137 })
    expect((await enter('env')).output.split('\n').map((line) => line.split('=')[0])).not.toContain('SHELL')
    await expect(lxc.enter('box', ['sleep', '1234'], { timeoutMs: 500 })).rejects.toMatchObject({ code: 'GuestSilent' })
    await until('the end of what ran in it', async () => (await lab.run(['pgrep', '-fx', 'sleep 1234'])).code === 1)
    await lxc.destroy('box')
    await lxc.undefine('box')
    expect(await lxc.domains()).toEqual([])
  })

  test('whoever cannot be reached is told so, with what to look at', async () => {
    for (const uri of ['qemu+ssh://127.0.0.1:1/system', 'qemu+unix:///system?socket=/no/such/socket'])
      await expect(open(uri).domains()).rejects.toMatchObject({
        code: 'HypervisorUnreachable',
        retryable: true,
        hint: expect.stringContaining('libvirtd'),
      })
    const withoutVirsh = openHypervisor(QEMU, { signal: never, env: { PATH: '/nowhere' } })
    await expect(withoutVirsh.host()).rejects.toMatchObject({ code: 'VirshMissing' })
    const stopped = openHypervisor(QEMU, { signal: AbortSignal.abort(new Error('enough')), env: process.env })
    await expect(stopped.host()).rejects.toThrow('enough')
  })

  test('containers of another host are refused', async () => {
    await expect(open('lxc+ssh://kvm1/system').host()).rejects.toMatchObject({ code: 'HypervisorRemote' })
  })

  test('the list of devices has network interfaces, too', async () => {
    const virsh = new VirshProcess(QEMU, { signal: never, env: process.env, prefix: lab.wrap([]) })
    expect(await listNetworkDevices(virsh)).toContain('lo')
  })

  test('what is cleared away when the usual signal was aborted is done until another one', async () => {
    const stopped = openHypervisor(QEMU, { signal: AbortSignal.abort(), env: process.env, prefix: lab.wrap([]) })
    expect((await stopped.until(never).host()).cpus).toBeGreaterThan(0)
  })

  test('a libvirtd that ends in the middle of a call is unreachable, not empty', async () => {
    await lab.done(['kill', '-STOP', lab.daemon])
    const asked = qemu.domains().catch((thrown: unknown) => thrown)
    await until('a question', async () => (await lab.run(['pgrep', '-x', 'virsh'])).code === 0)
    await lab.killDaemon()
    expect(await asked).toMatchObject({ code: 'HypervisorUnreachable', retryable: true })
    await expect(qemu.findVolume('pool/any')).rejects.toMatchObject({ code: 'HypervisorUnreachable' })
    await lab.startDaemon()
    expect(await until('libvirtd', () => qemu.domains().catch(() => undefined))).not.toHaveLength(0)
  })

  test('kind and place are in the address', () => {
    const of = (uri: string) => {
      const { kind, isLocal } = open(uri)
      return { kind, isLocal }
    }
    expect(of('qemu:///system')).toEqual({ kind: 'qemu', isLocal: true })
    expect(of('qemu+unix:///system?socket=/x')).toEqual({ kind: 'qemu', isLocal: true })
    expect(of('qemu+ssh://root@kvm1/system')).toEqual({ kind: 'qemu', isLocal: false })
    expect(of('lxc:///system')).toEqual({ kind: 'lxc', isLocal: true })
  })
})

function domainXml(name: string, disk: string): string {
  return `<domain type='qemu'>
  <name>${name.replaceAll('"', '&quot;')}</name>
  <memory unit='MiB'>64</memory>
  <vcpu>1</vcpu>
  <os><type>hvm</type></os>
  <devices>
    <disk type='file' device='cdrom'><source file='${disk}'/><target dev='sda' bus='sata'/><readonly/></disk>
    <interface type='network'><mac address='52:54:00:aa:bb:01'/><source network='net'/></interface>
    <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
  </devices>
</domain>`
}

function plainXml(name: string): string {
  return `<domain type='qemu'><name>${name}</name><memory unit='MiB'>64</memory><os><type>hvm</type></os></domain>`
}

function containerXml(name: string, root: string): string {
  return `<domain type='lxc'>
  <name>${name}</name>
  <memory unit='MiB'>64</memory>
  <os><type>exe</type><init>/bin/sleep</init><initarg>100000</initarg></os>
  <devices>
    <filesystem type='mount'><source dir='${root}'/><target dir='/'/></filesystem>
    <filesystem type='mount'><source dir='/usr'/><target dir='/usr'/><readonly/></filesystem>
    <console type='pty'/>
  </devices>
</domain>`
}

/** A root file system with the programs of the host. */
function emptyRoot({ directory }: LibvirtLab): string {
  const root = join(directory, 'root')
  for (const name of ['usr', 'proc', 'sys', 'dev', 'etc', 'tmp']) mkdirSync(join(root, name), { recursive: true })
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name))
  return root
}

/** wrap() that counts what is run. */
function countedWrap(lab: LibvirtLab): { words: string[]; count: () => number } {
  const file = join(lab.directory, 'counted')
  const script = `echo >>${file}; exec "$@"`
  return {
    words: lab.wrap(['sh', '-c', script, 'sh']),
    count: () => readFileSync(file).length,
  }
}
