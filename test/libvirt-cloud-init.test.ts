// What cloud-init gets of the examples, held to files that people can read, and each accepted by those who have to read it in
// the end: cloud-init, netplan and systemd. `vitest run FILE -u` writes the files anew. Of a machine like the one before it, the file
// has only what differs.

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { reveal, show } from '../src/machine/content.ts'
import { APPLY_PROGRAM } from '../src/targets/libvirt/cloud-init/apply-program.ts'
import { renderCloudInit } from '../src/targets/libvirt/cloud-init/cloud-init.ts'
import { renderUnits } from '../src/targets/libvirt/cloud-init/units.ts'
import { EXAMPLES, type PlacedMachine, placementOf, renderExample, withoutHash } from './support/cloud-init-examples.ts'
import { checkUserData, convertNetwork, whyNoCloudInit } from './support/cloud-init-schema.ts'

const run = promisify(execFile)
const examples = readdirSync(EXAMPLES)
const missing = whyNoCloudInit()
if (missing !== undefined && process.env.CI !== undefined) throw new Error(missing)
if (missing !== undefined) console.warn(`not asked: ${missing}`)
/** Each machine is several processes, and others may be at work here. */
const PATIENCE_MS = 120_000

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-cloud-init-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

describe.each(examples)('%s', async (example) => {
  const { texts, machines } = await renderExample(example)

  test('is rendered as it was', async () => {
    let before: PlacedMachine | undefined
    for (const each of machines) {
      const { name, kind } = each.machine
      const golden = (file: string) => join(EXAMPLES, example, name, file)
      const text = (machine: string, file: string) => texts.get(machine)?.get(`cloud-init/${file}`) ?? ''
      const userData = readable(text(name, 'user-data'))
      if (before?.machine.kind === kind) {
        const { name: other } = before.machine
        const changes = await difference(other, readable(text(other, 'user-data')), name, userData)
        await expect(changes).toMatchFileSnapshot(golden('user-data.diff'))
      } else await expect(userData).toMatchFileSnapshot(golden('user-data'))
      await expect(text(name, 'meta-data')).toMatchFileSnapshot(golden('meta-data'))
      await expect(text(name, 'network-config')).toMatchFileSnapshot(golden('network-config'))
      before = each
    }
  })

  test('writes every file of its machines as it is', () => {
    for (const { machine, placement } of machines) {
      const { write_files: entries } = parse(reveal(renderCloudInit(machine, placement).userData)) as UserData
      const deferred = entries.filter(({ defer }) => defer)
      expect(deferred.map(({ path, content }) => [path, content])).toEqual(
        machine.files.map(({ path, content }) => [path, reveal(content)]),
      )
      expect(deferred.map(({ owner, permissions }) => [owner, Number.parseInt(permissions, 8)])).toEqual(
        machine.files.map(({ owner, mode }) => [`${owner}:${owner}`, mode]),
      )
    }
  })

  test('shows no secrets to those who review it', () => {
    for (const { machine, placement } of machines) {
      const shown = show(renderCloudInit(machine, placement).userData)
      expect(parse(shown)).toMatchObject({ hostname: machine.name })
      for (const text of [shown, ...(texts.get(machine.name)?.values() ?? [])])
        expect(text).not.toMatch(/given-|PRIVATE KEY/u)
    }
  })

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

interface UserData {
  readonly write_files: readonly {
    readonly path: string
    readonly owner: string
    readonly permissions: string
    readonly defer?: boolean
    readonly content: string
  }[]
}

function inContainer({ machine, placement: { stack } }: PlacedMachine): PlacedMachine {
  return { machine, placement: placementOf(machine, stack, 'lxc') }
}

/** Without what is in a file of its own in this repository, and what is new each time. */
function readable(text: string): string {
  const program = APPLY_PROGRAM.replace(/\n(?=[^\n])/gu, '\n      ')
  return withoutHash(text)
    .replace(program, '(see apply-program.ts)\n')
    .replaceAll(/(?<=-----BEGIN [A-Z ]+-----\n)(?: +[\w+/=]+\n)+/gu, '      (base64)\n')
}

async function difference(oldName: string, old: string, newName: string, text: string): Promise<string> {
  const labels = [oldName, newName].flatMap((name) => ['--label', `${name}/user-data`])
  const words = ['-U1', ...labels, write('old', old), write('new', text)]
  // It ends with 1 where there is something to tell.
  const { stdout, stderr } = await run('diff', words).catch(
    (error: unknown) => error as Awaited<ReturnType<typeof run>>,
  )
  if (stderr !== '') throw new Error(String(stderr))
  return String(stdout)
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
