// The life of a machine of the target `libvirt`, as a container: its first boot, changes that go in while it runs, and those that
// were made while it was switched off.

import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Machine } from '../../src/machine/machine.ts'
import type { LogLine } from '../../src/targets/target.ts'
import type { MachineRecord } from '../../src/targets/libvirt/machine-record.ts'
import { readRecord, recordElement } from '../../src/targets/libvirt/record-xml.ts'
import { ContainerStack, prepareLab } from '../support/container-stack.ts'
import { describeWithLibvirt } from '../support/describe-with-libvirt.ts'
import { containerRoot, IMAGE_MS } from '../support/libvirt-image.ts'
import { LibvirtLab } from '../support/libvirt-lab.ts'
import { file, machine, service, USER } from '../support/local-stack.ts'
import { until } from '../support/until.ts'

const ENDLESS = 'trap "echo stopped; exit 0" TERM; trap "echo reloaded" HUP; echo started; while :; do sleep 0.05; done'
const BOOT_MS = 300_000

// Steps stand on each other: none is tried again.
describeWithLibvirt('a machine as a container', { retry: 0 }, () => {
  let lab: LibvirtLab
  let stack: ContainerStack
  beforeAll(async () => {
    const image = await containerRoot()
    lab = await LibvirtLab.start()
    await prepareLab(lab)
    stack = await ContainerStack.open(lab, { name: 's', image })
  }, IMAGE_MS)
  afterAll(async () => {
    await stack?.close()
    await lab?.close()
  }, BOOT_MS)

  const shown = service('shown', `cat etc/input; ${ENDLESS}`)
  const step = service('step', 'cat etc/input', { once: true })
  const other = service('other', ENDLESS, { reloadSignal: 'SIGHUP' })

  function made(text: string, parts: Partial<Machine> = {}): Machine {
    return stack.fit(
      machine('m', [shown, step, other], {
        directories: [{ path: '/var/lib/app', owner: USER, mode: 0o700, isData: true }],
        files: [
          file('/etc/input', text, { restart: 'shown' }),
          file('/etc/step', text, { restart: 'step' }),
          file('/etc/told', text, { reload: 'other' }),
          { ...file('/etc/first', text), isInitial: true },
          ...(text === 'one\n' ? [file('/etc/old/b', 'b\n')] : []),
        ],
        ...parts,
      }),
    )
  }

  const said = async (name: string) => (await stack.log('m', name)).trimEnd().split('\n')
  const untilSaid = (name: string, ...expected: string[]) =>
    until(`${name} to say ${expected.join(', ')}`, async () => (await said(name)).join() === expected.join(), BOOT_MS)
  const states = async () =>
    [...((await stack.target.observe()).get('m')?.services ?? [])].map(([name, { state }]) => [name, state])
  const pidOf = async (name: string) => (await stack.target.observe()).get('m')?.services.get(name)?.pid

  test('it boots, and its services run', { timeout: BOOT_MS }, async () => {
    await stack.up(made('one\n'))
    expect(stack.phases).toEqual(['m: booting', 'm: cloud-init', 'm: services'])
    await untilSaid('shown', 'one', 'started')
    await until('all services', async () => (await states()).every(([, state]) => state !== 'stopped'))
    expect(await states()).toEqual([
      ['shown', 'running'],
      ['step', 'done'],
      ['other', 'running'],
    ])
    expect(await stack.inside('m', 'stat -c "%U %a" /etc/input /var/lib/app; hostname')).toBe(
      `${USER} 644\n${USER} 700\nm\n`,
    )
    expect(await stack.target.isFilled('m')).toBe(true)
    expect(await stack.target.compareHardware([made('one\n')])).toEqual(new Map([['m', []]]))
    expect((await stack.target.read()).get('m')?.services).toEqual(JSON.parse(JSON.stringify([shown, step, other])))
  })

  test('files change while it runs, and who has not read them is told', { timeout: BOOT_MS }, async () => {
    const pids = [await pidOf('shown'), await pidOf('other')]
    await stack.target.write(made('two\n'))
    expect(await stack.inside('m', 'cat /etc/input /etc/first; ls /etc/old')).toBe('two\none\n')
    const existing = (await stack.target.read()).get('m')
    expect(existing?.files.get('/etc/first')?.text).toBe('one\n')
    expect(existing?.pending).toEqual(
      new Map([
        ['shown', 'restart'],
        ['step', 'restart'],
        ['other', 'reload'],
      ]),
    )
    await stack.target.start(made('two\n'))
    expect([await pidOf('shown'), await pidOf('other')]).toEqual(pids)
    await untilSaid('step', 'one', 'two')
    await stack.target.restart('m', 'shown')
    await stack.target.reload('m', 'other')
    await untilSaid('shown', 'one', 'started', 'stopped', 'two', 'started')
    await untilSaid('other', 'started', 'reloaded')
    expect((await stack.target.read()).get('m')?.pending).toEqual(new Map())
  })

  test('services come, change and go', { timeout: BOOT_MS }, async () => {
    const before = await pidOf('shown')
    const services = [shown, { ...other, environment: { MORE: '1' } }, service('more', ENDLESS)]
    await stack.up(made('two\n', { services }))
    await untilSaid('more', 'started')
    await untilSaid('other', 'started', 'reloaded', 'stopped', 'started')
    expect(await pidOf('shown')).toBe(before)
    expect((await states()).map(([name]) => name)).toEqual(['shown', 'other', 'more'])
    expect(await stack.inside('m', 'cd /etc/systemd/system; ls holdfast-*')).toBe(
      'holdfast-more.service\nholdfast-other.service\nholdfast-shown.service\n',
    )
  })

  test('logs are read, and followed', { timeout: BOOT_MS }, async () => {
    const ending = new AbortController()
    const lines: LogLine[] = []
    const following = (async () => {
      for await (const line of stack.target.logs(['m'], { lines: 2, follow: true, signal: ending.signal }))
        lines.push(line)
    })()
    const linesOf = (name: string) => lines.filter((line) => line.service === name).map(({ line }) => line)
    await until('the last lines', () => linesOf('more').length > 0)
    await stack.target.restart('m', 'more')
    await until('new lines', () => linesOf('more').at(-1) === 'started' && linesOf('more').length === 3, BOOT_MS)
    ending.abort()
    await following
    expect(linesOf('shown')).toEqual(['two', 'started'])
    expect(linesOf('more')).toEqual(['started', 'stopped', 'started'])
  })

  test('what is written while it is off is there after it was started', { timeout: BOOT_MS }, async () => {
    await stack.target.stop('m')
    expect(new Set((await states()).map(([, state]) => state))).toEqual(new Set(['stopped']))
    const changed = made('three\n', {
      services: [shown, step],
      files: [file('/etc/input', 'three\n', { restart: 'shown' })],
    })
    await stack.target.write(changed)
    expect(await states()).toHaveLength(3)
    await stack.target.start(changed)
    await until('the new text', async () => (await said('shown')).slice(-2).join() === 'three,started', BOOT_MS)
    expect(await stack.inside('m', 'cat /etc/input; ls /etc/step /etc/told; ls /etc/systemd/system/holdfast-*')).toBe(
      'three\n/etc/systemd/system/holdfast-shown.service\n/etc/systemd/system/holdfast-step.service\n',
    )
    expect((await stack.target.read()).get('m')?.pending).toEqual(new Map())
  })

  test('removed with its data kept, it comes back as the one that it was', { timeout: BOOT_MS }, async () => {
    await stack.inside('m', 'echo precious >/var/lib/app/data')
    const id = await stack.inside('m', 'cat /var/lib/cloud/data/instance-id')
    await stack.target.remove('m', { keepData: true })
    expect(await stack.target.read()).toEqual(new Map())
    expect(await stack.target.observe()).toEqual(new Map())
    expect(await stack.target.isFilled('m')).toBe(true)
    expect([...(await stack.target.machines()).keys()]).toEqual(['m'])
    const before = await said('shown')
    // With the very machine that it was, all that was taken away has to come back.
    await stack.up(made('three\n', { services: [shown, step], files: [file('/etc/input', 'three\n')] }))
    await until('the service', async () => (await said('shown')).length === before.length + 2, BOOT_MS)
    await stack.up(made('four\n', { services: [other] }))
    expect(await stack.inside('m', 'cat /var/lib/app/data /etc/input')).toBe('precious\nfour\n')
    expect(await stack.inside('m', 'cat /var/lib/cloud/data/instance-id')).toBe(id)
  })

  test('removed, nothing is left of it but the root directory, which is not ours', { timeout: BOOT_MS }, async () => {
    await stack.target.remove('m', { keepData: false })
    expect(await stack.leftovers()).toEqual({ domains: '', volumes: [] })
    expect(readdirSync(stack.temporary)).toEqual([])
    expect(await stack.target.isFilled('m')).toBe(false)
  })

  test('on a root that was another machine, data are set aside and nothing of that one starts', {
    timeout: BOOT_MS,
  }, async () => {
    const id = await stack.lab.done(['sh', '-c', `cat ${stack.root}/var/lib/cloud/data/instance-id`])
    await stack.up(made('five\n', { services: [shown] }))
    const now = (await stack.inside('m', 'cat /var/lib/cloud/data/instance-id')).trim()
    expect(now).not.toBe(id.trim())
    expect(
      await stack.inside('m', 'ls /var/lib/app; cat /var/lib/app.before-*/data; ls -d /var/lib/app.before-*'),
    ).toBe(`precious\n/var/lib/app.before-${now.slice(0, 8)}\n`)
    expect(await stack.inside('m', 'systemctl is-enabled holdfast-other.service holdfast-shown.service')).toBe(
      'disabled\nenabled\n',
    )
  })

  test('a first boot that was cut is noticed, and begun anew', { timeout: BOOT_MS }, async () => {
    const before = await stack.inside(
      'm',
      'rm /var/lib/cloud/instance/holdfast-done; cat /var/lib/cloud/data/instance-id',
    )
    await stack.target.stop('m')
    const [domain] = await stack.hypervisor.domains()
    const { appliedDigest: _, started: __, ...record } = readRecord(domain, stack.name) as MachineRecord
    await stack.hypervisor.setMetadata(domain.name, recordElement(record))
    await stack.hypervisor.start(domain.name)
    stack.phases.length = 0
    await stack.up(made('six\n', { services: [shown] }))
    expect(stack.phases).toContainEqual(expect.stringMatching(/cloud-init has failed.*; it is made anew$/u))
    expect(await stack.inside('m', 'cat /etc/input /var/lib/cloud/data/instance-id')).not.toContain(before)
    expect(await states()).toEqual([['shown', 'running']])
  })
})
