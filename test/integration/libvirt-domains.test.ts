// The domains that we render, defined by a real libvirt, and the machine that tries whether machines boot.

import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AcceleratorChoice } from '../../src/targets/libvirt/accelerator.ts'
import type { Hypervisor } from '../../src/targets/libvirt/hypervisor.ts'
import { probeKvm } from '../../src/targets/libvirt/probe.ts'
import { readAnyRecord } from '../../src/targets/libvirt/record-xml.ts'
import { openHypervisor } from '../../src/targets/libvirt/virsh.ts'
import { describeWithLibvirt } from '../support/describe-with-libvirt.ts'
import { LibvirtLab } from '../support/libvirt-lab.ts'
import { until } from '../support/until.ts'

const GOLDEN = join(import.meta.dirname, '../golden/libvirt')

describeWithLibvirt('libvirt itself', () => {
  let lab: LibvirtLab
  let images: string
  let hypervisor: Hypervisor
  const ending = new AbortController()

  const open = (uri: string) => openHypervisor(uri, { signal: ending.signal, env: process.env, prefix: lab.wrap([]) })

  beforeAll(async () => {
    lab = await LibvirtLab.start()
    images = await lab.pool('default')
    hypervisor = open('qemu:///system')
  })

  afterAll(async () => {
    ending.abort()
    await lab?.close()
  })

  test.each(globSync('**/*.xml', { cwd: GOLDEN }).filter((name) => !name.includes('arm')))(
    'takes %s, and gives back its record',
    async (name) => {
      const xml = readFileSync(join(GOLDEN, name), 'utf8')
      const target = name.includes('container') ? open('lxc:///system') : hypervisor
      await target.define(xml)
      const [domain, ...others] = await target.domains()
      await target.undefine(domain.name)
      expect(others).toEqual([])
      expect(domain).toMatchObject({ state: 'shut off', isPersistent: true })
      expect(readAnyRecord(domain)).toMatchObject({ stack: 'lab', machine: domain.name.replace('lab-', '') })
      expect(name).toContain(readAnyRecord(domain)?.kind)
    },
  )

  test('boots the machine that tries it, which turns itself off, and nothing is left', async () => {
    expect(await probeKvm(hypervisor, { name: 'default', path: images }, ending.signal, 'qemu')).toBeUndefined()
    expect(await hypervisor.domains()).toEqual([])
    expect(readdirSync(images)).toEqual([])
  })

  test('is left with nothing by a trial that is interrupted', async () => {
    const interrupting = new AbortController()
    const { signal } = interrupting
    const stopped = openHypervisor('qemu:///system', { signal, env: process.env, prefix: lab.wrap([]) })
    const probing = probeKvm(stopped, { name: 'default', path: images }, signal, 'qemu').catch(
      (error: unknown) => error,
    )
    await until('a machine that is tried', async () => (await hypervisor.domains())[0]?.state === 'running')
    interrupting.abort(new Error('enough'))
    expect(await probing).toMatchObject({ message: 'enough' })
    expect(await hypervisor.domains()).toEqual([])
    expect(readdirSync(images)).toEqual([])
  })

  test('is rid of what a trial of before has left, and keeps that of another one', async () => {
    const disk = join(images, 'old.img')
    writeFileSync(disk, '')
    await lab.virsh('pool-refresh', 'default')
    const left = (seconds: number) => `holdfast-probe-${seconds}-0123456789ab`
    const now = Math.floor(Date.now() / 1000)
    for (const name of [left(now - 3600), left(now)])
      await hypervisor.define(
        `<domain type='qemu'><name>${name}</name><memory unit='MiB'>64</memory><os><type>hvm</type></os>
        <devices><disk type='file' device='disk'><source file='${disk}'/><target dev='vda'/></disk></devices></domain>`,
      )
    await probeKvm(hypervisor, { name: 'default', path: images }, ending.signal, 'qemu')
    expect((await hypervisor.domains()).map(({ name }) => name)).toEqual([left(now)])
    await hypervisor.undefine(left(now))
    expect(readdirSync(images)).toEqual([])
  })

  test('is asked once whether machines boot with KVM, and says what came out', async () => {
    const lines: string[] = []
    const choice = new AcceleratorChoice({ signal: ending.signal, progress: (line) => lines.push(line) })
    const types = await Promise.all([choice.choose(hypervisor, 'auto'), choice.choose(hypervisor, 'auto')])
    // That it is tried is told first, where there is anything to try.
    const outcomes = lines.filter((line) => !line.startsWith('trying'))
    expect(lines.length - outcomes.length).toBeLessThan(2)
    expect(outcomes).toHaveLength(1)
    expect(types).toEqual(outcomes[0].includes('slow') ? ['qemu', 'qemu'] : ['kvm', 'kvm'])
    expect(await hypervisor.domains()).toEqual([])
    expect(readdirSync(images)).toEqual([])
  })
})
