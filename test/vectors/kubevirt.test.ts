// The cases of kubevirt.json, from VirtualMachineInstance to zone file, through everything that is between. Where we
// differ on purpose the case is in DEVIATIONS, and docs/reference/deviations.md says why.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TYPE } from '../../src/dns/types.ts'
import { EndpointIndex } from '../../src/names/kubernetes/endpoint-index.ts'
import { KUBEVIRT_DEFAULTS, kubevirtSource, type KubevirtSettings } from '../../src/names/kubevirt/kubevirt-source.ts'
import {
  keepVmi,
  secondaryInterfaces,
  VIRTUAL_MACHINE_INSTANCES,
  type VirtualMachineInstance,
} from '../../src/names/kubevirt/virtual-machine-instance.ts'
import {
  APEX_DEFAULTS,
  apexText,
  kubevirtZone,
  parseNameServerAddresses,
  type ZoneApex,
} from '../../src/names/kubevirt/zone-apex.ts'
import { EndpointZoneFile } from '../../src/names/outputs/endpoint-zone-file.ts'
import { question } from '../support/fault-server.ts'
import { LocalZones } from '../support/local-answer.ts'
import { briefly } from '../support/lookup.ts'

type Interfaces = NonNullable<NonNullable<VirtualMachineInstance['status']>['interfaces']>
interface Outcome {
  readonly changed: boolean
  readonly serial: number
  readonly records: readonly string[]
}
interface Vector<Input, Expected = unknown> {
  readonly id: string
  readonly kind: string
  readonly note?: string
  readonly input: Input
  readonly expect: Expected
}
interface Start {
  readonly NAME_SERVER_IP: string
  readonly zone: string
  readonly existing_serial: number | null
}
interface Step {
  readonly vmi: { readonly name: string; readonly namespace: string }
  readonly interfaces: Interfaces | null
  readonly expect: Outcome
}
type Update = Vector<Start, { zone_text: string | null }> & { readonly steps: readonly Step[] }

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const vectors = JSON.parse(read('kubevirt.json')) as { readonly cases: readonly Vector<unknown>[] }

type Checks = Readonly<Record<string, (vector: never) => void | Promise<void>>>

const BY_KIND: Checks = {
  filter: counts,
  header: begins,
  update: updates,
  reconcile: reconciles,
  manager: names,
  e2e: resolves,
}

const BY_ID: Checks = {
  'file-00': makesFile,
  'file-01': beginsWithoutFile,
  'file-02': replacesFile,
}

const DEVIATIONS: Checks = {
  'update-01': writesEmptyZone,
  'update-02': refusesZoneWithoutName,
  'update-12': writesEmptyZone,
  'update-14': publishesAll,
  'update-22': waitsForAll,
}

let directory: string
let stop: AbortController
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-kubevirt-'))
  stop = new AbortController()
})
afterEach(() => {
  stop.abort()
  rmSync(directory, { recursive: true })
})

describe('vectors of KubeSecondaryDNS', () => {
  for (const vector of vectors.cases)
    it(`${vector.id}: ${vector.note ?? vector.kind}${vector.id in DEVIATIONS ? ' (we differ)' : ''}`, async () => {
      const check = DEVIATIONS[vector.id] ?? BY_ID[vector.id] ?? BY_KIND[vector.kind]
      if (check === undefined) throw new Error(`no check for ${vector.id}`)
      await check(vector as never)
    })

  it('no check is without a case', () => {
    const ids = new Set(vectors.cases.map(({ id }) => id))
    const kinds = new Set(vectors.cases.map(({ kind }) => kind))
    expect([...Object.keys(DEVIATIONS), ...Object.keys(BY_ID)].filter((id) => !ids.has(id))).toEqual([])
    expect(Object.keys(BY_KIND).filter((kind) => !kinds.has(kind))).toEqual([])
  })
})

describe('the page of deviations', () => {
  it('names every case in which we differ', () => {
    const page = read('../../docs/reference/deviations.md')
    expect(Object.keys(DEVIATIONS).filter((id) => !page.includes(`\`${id}\``))).toEqual([])
  })
})

/** What a publisher is made of, without a cluster. */
class Publisher {
  readonly problems: string[] = []
  readonly path: string
  readonly #source
  readonly #index = new EndpointIndex()
  readonly #file: EndpointZoneFile

  constructor(apex: Pick<ZoneApex, 'zone' | 'nameServerAddresses'>, settings: Partial<KubevirtSettings> = {}) {
    this.path = join(directory, `db.${apex.zone}`)
    this.#source = kubevirtSource({ ...KUBEVIRT_DEFAULTS, zone: apex.zone, ...settings })
    const log = { info: () => {}, error: (message: string) => void this.problems.push(message) }
    this.#file = new EndpointZoneFile({ directory, apex: { ...APEX_DEFAULTS, ...apex }, log, signal: stop.signal })
  }

  take(name: string, namespace: string, vmi: Omit<VirtualMachineInstance, 'metadata'> | undefined): void {
    const object = vmi && keepVmi({ ...vmi, metadata: { name, namespace } })
    const change = { resource: VIRTUAL_MACHINE_INSTANCES, key: `${namespace}/${name}`, object }
    for (const root of this.#source.apply(change)) {
      const { endpoints, problems } = this.#source.endpoints(root)
      this.problems.push(...problems)
      for (const touched of this.#index.set('kubevirt', root, endpoints))
        this.#file.set(touched, this.#index.candidates(touched))
    }
  }

  /** Everything there is was listed. */
  async publish(): Promise<void> {
    this.#file.commit()
    await this.#file.flush()
  }

  get text(): string {
    return readFileSync(this.path, 'utf8')
  }
}

function counts({ input, expect: { kept } }: Vector<Record<string, never>, { kept: readonly string[] }>): void {
  const vmi = {
    metadata: { name: 'web', namespace: 'prod' },
    spec: { networks: input['spec.networks'] ?? [] },
    status: { interfaces: input['status.interfaces'] },
  }
  expect(secondaryInterfaces(vmi).map(({ name }) => name)).toEqual(kept)
  expect(secondaryInterfaces(keepVmi(vmi)).map(({ name }) => name)).toEqual(kept)
}

function begins({ input, expect: expected }: Vector<Start, { header_text: string }>): void {
  expect(apexText(apexOf(input), input.existing_serial ?? 0)).toBe(expected.header_text)
}

function updates(vector: Update): Promise<void> {
  return follows(
    vector,
    vector.steps.map(({ expect: expected }) => expected),
    vector.expect.zone_text,
  )
}

async function follows({ input, steps }: Update, expected: readonly Outcome[], zoneText: string | null): Promise<void> {
  const publisher = publisherOn(input)
  let before = ''
  for (const [i, { vmi, interfaces }] of steps.entries()) {
    publisher.take(vmi.name, vmi.namespace, interfaces === null ? undefined : { status: { interfaces } })
    await publisher.publish()
    const { text } = publisher
    const head = apexText(apexOf(input), expected[i].serial)
    expect(text.slice(0, head.length)).toBe(head)
    expect(lines(text.slice(head.length))).toEqual(expected[i].records.toSorted())
    expect(text !== before).toBe(expected[i].changed)
    before = text
  }
  if (zoneText !== null) expect(lines(before)).toEqual(lines(zoneText))
  expect(publisher.problems).toEqual([])
}

/** With the file there that the serial is from. */
function publisherOn(input: Start, settings: Partial<KubevirtSettings> = {}): Publisher {
  const apex = apexOf(input)
  const publisher = new Publisher(apex, settings)
  if (input.existing_serial !== null) writeFileSync(publisher.path, apexText(apex, input.existing_serial))
  return publisher
}

function apexOf({ zone, NAME_SERVER_IP }: Start): ZoneApex {
  return { ...APEX_DEFAULTS, zone, nameServerAddresses: parseNameServerAddresses(NAME_SERVER_IP) }
}

function lines(text: string): string[] {
  return text.split('\n').filter(Boolean).toSorted()
}

function writesEmptyZone(vector: Update): Promise<void> {
  return follows(vector, [{ changed: true, serial: 1, records: [] }], apexText(apexOf(vector.input), 1))
}

/** Which is in the case because of the test it is from; everything else is as there. */
async function refusesZoneWithoutName(vector: Update): Promise<void> {
  expect(() => kubevirtZone('..')).toThrow('is no domain name')
  const zone = kubevirtZone(vector.input.zone)
  const text = vector.expect.zone_text
    ?.replace('$ORIGIN . ', '$ORIGIN vm. ')
    .replace('ns.. email..', 'ns.vm. email.vm.')
  const steps = vector.steps.map(({ expect: expected }) => expected)
  await follows({ ...vector, input: { ...vector.input, zone } }, steps, text ?? null)
}

async function publishesAll(vector: Update): Promise<void> {
  const records = ['nic1.vmi1.ns1', 'vmi1.ns1'].flatMap((name) => [`${name} IN A 1.2.3.4`, `${name} IN A 1.2.3.5`])
  await follows(vector, [{ changed: true, serial: 1, records }], null)
  rmSync(join(directory, `db.${vector.input.zone}`))
  const [{ vmi, interfaces, expect: expected }] = vector.steps
  const first = publisherOn(vector.input, { addresses: 'first' })
  first.take(vmi.name, vmi.namespace, { status: { interfaces: interfaces ?? [] } })
  await first.publish()
  expect(lines(first.text)).toEqual(lines(vector.expect.zone_text ?? ''))
  expect(expected.records).toHaveLength(2)
}

async function waitsForAll({ input, steps, expect: expected }: Update): Promise<void> {
  const [{ vmi, interfaces }] = steps
  const status = { interfaces: interfaces ?? [] }
  const publisher = publisherOn(input)
  const before = `${expected.zone_text?.replace('(8 ', '(7 ')}nic2.vmi1.ns1 IN A 5.6.7.8\nvmi1.ns1 IN A 5.6.7.8\n`
  writeFileSync(publisher.path, before)
  publisher.take(vmi.name, vmi.namespace, { status })
  expect(publisher.text).toBe(before)
  publisher.take('vmi1', 'ns1', { status })
  await publisher.publish()
  expect(publisher.text).toBe(before)
  publisher.take('vmi1', 'ns1', undefined)
  await publisher.publish()
  expect(lines(publisher.text)).toEqual(lines(expected.zone_text ?? ''))
}

interface Environment {
  readonly DOMAIN: string
  readonly NAME_SERVER_IP?: string
}
type Reconcile = Vector<Environment, { zone_text: string }> & {
  readonly zone: string
  readonly zone_file: string
  readonly steps: readonly {
    readonly object: VirtualMachineInstance
    readonly expect: { readonly serial: number; readonly fqdn_to_ipv4: Readonly<Record<string, string>> }
  }[]
}

async function reconciles({ input, zone, zone_file, steps, expect: expected }: Reconcile): Promise<void> {
  const apex = apexOf({
    ...input,
    NAME_SERVER_IP: input.NAME_SERVER_IP ?? '',
    zone: kubevirtZone(input.DOMAIN),
    existing_serial: null,
  })
  const publisher = new Publisher(apex)
  expect([`${apex.zone}.`, basename(publisher.path)]).toEqual([zone, basename(zone_file)])
  for (const { object, expect: step } of steps) {
    publisher.take(object.metadata.name, object.metadata.namespace ?? '', object)
    await publisher.publish()
    expect(publisher.text).toContain(`(${step.serial} `)
    for (const [name, address] of Object.entries(step.fqdn_to_ipv4)) expect(answer(publisher, zone, name)).toBe(address)
  }
  expect(lines(publisher.text)).toEqual(lines(expected.zone_text))
}

function answer({ text }: Publisher, zone: string, name: string): string {
  const zones = new LocalZones()
  zones.add(zone, text, { requireNs: false })
  const response = zones.ask(question(name, TYPE.A))
  if (response === undefined || response === 'elsewhere') throw new Error(`no answer: ${response}`)
  return briefly(response)
}

async function makesFile(): Promise<void> {
  const publisher = new Publisher({ zone: 'vm', nameServerAddresses: [] })
  await publisher.publish()
  expect(publisher.text).toBe(apexText({ ...APEX_DEFAULTS, zone: 'vm' }, 1))
  expect(statSync(publisher.path).mode & 0o777).toBe(0o644)
}

async function beginsWithoutFile(): Promise<void> {
  const publisher = new Publisher({ zone: 'vm', nameServerAddresses: [] })
  await publisher.publish()
  expect(publisher.problems).toEqual([])
  expect(publisher.text).toContain('(1 ')
}

async function replacesFile({ input }: Vector<{ old: string }>): Promise<void> {
  const publisher = new Publisher({ zone: 'vm', nameServerAddresses: [] })
  writeFileSync(publisher.path, input.old)
  await publisher.publish()
  expect(publisher.text).toBe(apexText({ ...APEX_DEFAULTS, zone: 'vm' }, 1))
}

function names({ input, expect: expected }: Vector<Environment, { zone_file: string }>): void {
  const publisher = new Publisher({ zone: kubevirtZone(input.DOMAIN), nameServerAddresses: [] })
  expect(basename(publisher.path)).toBe(basename(expected.zone_file))
}

interface Machine extends Environment {
  readonly interface: string
  readonly static_cni_address: string
}

async function resolves({ input, expect: { lookups } }: Vector<Machine, { lookups: Record<string, string> }>) {
  const publisher = new Publisher({ zone: kubevirtZone(input.DOMAIN), nameServerAddresses: [] })
  const [ipAddress] = input.static_cni_address.split('/')
  publisher.take('vmi-sec-x7', 'secondary-test-b2', {
    spec: { networks: [{ name: input.interface, multus: {} }] },
    status: { interfaces: [{ name: input.interface, ipAddress, ipAddresses: [ipAddress] }] },
  })
  await publisher.publish()
  for (const [name, address] of Object.entries(lookups)) {
    const asked = name.replace('<vmi>', 'vmi-sec-x7').replace('<namespace>', 'secondary-test-b2')
    expect(answer(publisher, 'vm.', asked)).toBe(address)
  }
}
