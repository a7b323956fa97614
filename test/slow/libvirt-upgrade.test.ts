// Another version of Holdfast takes over a stack in containers: machines that run our own program go on with the new one, while they run.

import { appendFileSync, cpSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithLibvirt } from '../support/describe-with-libvirt.ts'
import { containerRoot, IMAGE_MS } from '../support/libvirt-image.ts'
import { LibvirtLab } from '../support/libvirt-lab.ts'
import { NETWORK, onNetwork, POOL } from '../support/libvirt-machines.ts'
import { LibvirtStack } from '../support/libvirt-stack.ts'
import { until } from '../support/until.ts'

const ROOT = join(import.meta.dirname, '../..')
const STEP_MS = 900_000

describeWithLibvirt('a new version', { retry: 0 }, () => {
  let lab: LibvirtLab
  let stack: LibvirtStack
  /** `bin/holdfast` of the new version. */
  let newer: string
  beforeAll(async () => {
    const lower = await containerRoot()
    lab = await LibvirtLab.start()
    await lab.network(NETWORK)
    await lab.pool(POOL)
    stack = new LibvirtStack(lab, 'upgraded')
    stack.file(`domain: lab.test
hypervisor: lxc:///system
cloud_init_volume_pool: ${POOL}
install_dependencies: false
memory: 512
dns:
  servers: [{ name: dns-1, volume_id: ${await lab.overlay('dns-1', lower)}, ${onNetwork('dns-1')} }]`)
    const copy = mkdtempSync(join(lab.directory, 'newer-'))
    for (const name of ['bin', 'src', 'package.json']) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    appendFileSync(join(copy, 'src/main.ts'), '// newer\n')
    newer = join(copy, 'bin/holdfast')
  }, IMAGE_MS)
  afterAll(async () => {
    await stack?.purge()
    await lab?.close()
  }, STEP_MS)

  const programs = () =>
    readdirSync(join(lab.directory, 'pools', POOL)).filter((name) => name.startsWith('holdfast-program'))
  const answer = async () => (await stack.dig((await stack.status()).machines[0].address, 'dns-1.lab.test'))[0]

  test('is taken up by machines that run, and the old one goes', { timeout: STEP_MS }, async () => {
    await stack.up()
    const [old] = programs()
    const before = await answer()
    expect(before).toMatch(/^10\./u)
    const [, ...words] = stack.words('up', '--yes', '--json')
    await lab.done([newer, ...words], { cwd: stack.directory })
    await until('its answer', async () => (await answer()) === before)
    expect(programs()).toHaveLength(1)
    expect(programs()).not.toContain(old)
    // It starts again without what it was started with.
    await lab.done(['virsh', '-c', 'lxc:///system', 'destroy', stack.domain('dns-1')])
    await lab.done([newer, ...words], { cwd: stack.directory })
    await until('its answer', async () => (await answer()) === before)
  })
})
