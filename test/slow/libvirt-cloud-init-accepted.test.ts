// The input of cloud-init for the examples is accepted by the programs that read it: cloud-init, netplan and systemd.

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reveal } from '../../src/machine/content.ts'
import { renderCloudInit } from '../../src/targets/libvirt/cloud-init/cloud-init.ts'
import { renderUnits } from '../../src/targets/libvirt/cloud-init/units.ts'
import { EXAMPLES, type PlacedMachine, placementOf, renderExample } from '../support/cloud-init-examples.ts'
import { checkUserData, convertNetwork, whyNoCloudInit } from '../support/cloud-init-schema.ts'

const run = promisify(execFile)
const examples = readdirSync(EXAMPLES)
const missing = whyNoCloudInit()
if (missing !== undefined && process.env.CI !== undefined) throw new Error(missing)
if (missing !== undefined) console.warn(`not asked: ${missing}`)
/** Each machine is several processes. */
const PATIENCE_MS = 300_000

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-cloud-init-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

describe.each(examples)('%s', async (example) => {
  const { machines } = await renderExample(example)

  test.skipIf(missing !== undefined)(
    'is valid for cloud-init',
    async () => {
      for (const { machine, placement } of [...machines, ...machines.map(inContainer)]) {
        const name = `${example}-${machine.name}-${placement.kind}`
        await checkUserData(write(name, reveal(renderCloudInit(machine, placement).userData)))
      }
    },
    PATIENCE_MS,
  )

  test.skipIf(missing !== undefined)(
    'has a network that cloud-init writes for networkd and ifupdown',
    async () => {
      for (const { machine, placement } of machines) {
        const [{ gateway, ip, prefixLength }] = placement.interfaces
        const name = `${example}-${machine.name}`
        const file = write(`${name}-network`, renderCloudInit(machine, placement).networkConfig)
        for (const kind of ['networkd', 'eni'] as const) {
          const made = join(directory, `${name}-${kind}`)
          await convertNetwork(file, kind, made)
          const text = textsBelow(made)
          expect(text).toContain(`${ip}/${prefixLength}`)
          // A route to ::/64 would be none to the world.
          expect(text).not.toContain('::/64 gw')
          expect(text).toContain(gateway)
          if (kind === 'networkd') expect(text.match(/^Gateway=/gmu)).toHaveLength(1)
        }
      }
    },
    PATIENCE_MS,
  )

  test('has a network that netplan makes networkd of', async () => {
    for (const { machine, placement } of machines) {
      const root = join(directory, `${example}-${machine.name}-netplan`)
      mkdirSync(join(root, 'etc/netplan'), { recursive: true })
      const { networkConfig } = renderCloudInit(machine, placement)
      const text = `network:\n${networkConfig.replace(/^/gmu, '  ')}`
      writeFileSync(join(root, 'etc/netplan/50-cloud-init.yaml'), text, { mode: 0o600 })
      await run('netplan', ['generate', '--root-dir', root])
      const made = textsBelow(join(root, 'run/systemd/network'))
      for (const { ip, prefixLength, mac } of placement.interfaces) {
        expect(made).toContain(`Address=${ip}/${prefixLength}`)
        expect(made).toContain(`PermanentMACAddress=${mac}`)
      }
      expect(made.match(/^Gateway=/gmu)).toHaveLength(1)
      expect(made).toContain('IPv6AcceptRA=no')
    }
  })

  test(
    'has units that systemd finds nothing wrong with',
    async () => {
      for (const { machine, placement } of [...machines, ...machines.map(inContainer)]) {
        const units = mkdtempSync(join(directory, 'units-'))
        const files = renderUnits(machine, placement).map(({ name, text }) => {
          const file = join(units, name)
          writeFileSync(file, text)
          return file
        })
        const said = await run('systemd-analyze', ['verify', '--man=no', ...files]).catch((error: unknown) => error)
        const complaints = (said as { stderr: string }).stderr
          .split('\n')
          .filter((line) => line.includes('holdfast') || line.includes('.mount'))
        // Programs of a machine need not be on this host.
        expect(complaints.filter((line) => !line.includes('is not executable'))).toEqual([])
      }
    },
    PATIENCE_MS,
  )
})

function inContainer({ machine, placement: { stack } }: PlacedMachine): PlacedMachine {
  return { machine, placement: placementOf(machine, stack, 'lxc') }
}

function write(name: string, text: string): string {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}

function textsBelow(root: string): string {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')
}
