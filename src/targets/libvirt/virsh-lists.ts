// What a hypervisor has, all of it, in two processes however much it is: one lists, one asks for the XML of each. What cannot be
// read may be gone in between, so we read again. Whether it is, only a list says: it names what there is in any language.

import { HoldfastError } from '../../lib/errors.ts'
import type { Domain, DomainState, Network, Pool } from './hypervisor.ts'
import { readDomainXml, readNetworkXml, readPoolXml } from './libvirt-xml.ts'
import { endedContainers } from './virsh-container.ts'
import { virshError } from './virsh-errors.ts'
import type { VirshProcess } from './virsh-process.ts'

const TIMEOUT_MS = 60_000
const ATTEMPTS = 5

export async function listDomains(virsh: VirshProcess): Promise<readonly Domain[]> {
  const filters = [[], ['--state-running'], ['--state-shutoff'], ['--autostart'], ['--persistent']]
  const lists = filters.map((filter) => ['list', '--all', '--uuid', ...filter])
  const found = await describeAll(
    virsh,
    'read the domains',
    lists,
    (uuid, [, running, off]) => [
      ['dumpxml', '--inactive', uuid],
      ...(off.has(uuid) ? [] : [['dumpxml', uuid]]),
      ...(off.has(uuid) || running.has(uuid) ? [] : [['domstate', '--reason', uuid]]),
    ],
    (uuid, [, running, , autostarted, persistent], [definition, liveXml, state]) => {
      const { name, metadata, facts } = readDomainXml(definition)
      const now = liveXml === undefined ? undefined : readDomainXml(liveXml)
      // One that has ended since it was listed is described as it starts the next time.
      const live = now?.id === undefined ? undefined : now.facts
      const domain: Domain = {
        name,
        uuid,
        ...(live === undefined ? readState('shut off') : readState(running.has(uuid) ? 'running' : state)),
        isPersistent: persistent.has(uuid),
        isAutostarted: autostarted.has(uuid),
        definition: facts,
        live,
        metadata,
      }
      return { domain, id: now?.id }
    },
  )
  if (!virsh.isOfContainers) return found.map(({ domain }) => domain)
  const ids = found.flatMap(({ id }) => (id === undefined ? [] : [id]))
  const ended = await endedContainers(virsh, ids)
  return found.map(({ domain, id = '' }) =>
    ended.has(id) ? { ...domain, ...readState('shut off'), live: undefined } : domain,
  )
}

export async function askState(virsh: VirshProcess, domain: string): Promise<DomainState | undefined> {
  const action = `see how domain "${domain}" is`
  const commands = [
    ['domstate', '--reason', '--domain', domain],
    ['domid', '--domain', domain],
    ['list', '--all', '--name'],
  ]
  const [answer, number, names] = await virsh.ask(commands, { action, timeoutMs: TIMEOUT_MS })
  if ('output' in answer) {
    const id = 'output' in number ? number.output.trim() : ''
    const hasEnded = virsh.isOfContainers && (await endedContainers(virsh, [id])).has(id)
    return readState(hasEnded ? 'shut off' : answer.output)
  }
  if (!virsh.outputOf(names, action).split('\n').includes(domain)) return undefined
  throw virshError(action, virsh.uri, answer.failure)
}

const STATES: readonly DomainState['state'][] = ['running', 'paused', 'shut off', 'crashed']

/** `paused (I/O error)` */
export function readState(text: string): DomainState {
  const [, word = '', reason] = /^\s*([^(]*?)\s*(?:\((.*)\))?\s*$/u.exec(text) ?? []
  const state = STATES.find((each) => each === word) ?? 'other'
  return { state, ...(state === 'paused' && reason !== undefined ? { reason } : {}) }
}

export function listNetworks(virsh: VirshProcess): Promise<readonly Network[]> {
  return describeAll(
    virsh,
    'read the networks',
    [
      ['net-list', '--all', '--uuid'],
      ['net-list', '--uuid'],
    ],
    (uuid) => [['net-dumpxml', uuid]],
    (uuid, [, active], [xml]) => readNetworkXml(xml, active.has(uuid)),
  )
}

export function listPools(virsh: VirshProcess): Promise<readonly Pool[]> {
  return describeAll(
    virsh,
    'read the storage pools',
    [
      ['pool-list', '--all', '--uuid'],
      ['pool-list', '--uuid'],
    ],
    (uuid) => [['pool-dumpxml', uuid]],
    (uuid, [, active], [xml]) => readPoolXml(xml, active.has(uuid)),
  )
}

type Lists = readonly ReadonlySet<string>[]

/** The first list has all; `describe` gets what the commands of one have printed. */
async function describeAll<T>(
  virsh: VirshProcess,
  action: string,
  lists: readonly (readonly string[])[],
  commandsOf: (uuid: string, lists: Lists) => readonly (readonly string[])[],
  describe: (uuid: string, lists: Lists, outputs: readonly string[]) => T,
): Promise<readonly T[]> {
  const asked = { action, timeoutMs: TIMEOUT_MS }
  let unread: ReadonlySet<string> = new Set()
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const listed = await virsh.ask(lists, asked)
    const found = listed.map((answer) => new Set(virsh.outputOf(answer, action).split(/\s+/u).filter(Boolean)))
    const uuids = [...found[0]]
    const commands = uuids.map((uuid) => commandsOf(uuid, found))
    const answers = (await virsh.ask(commands.flat(), asked)).values()
    const answersOf = new Map(uuids.map((uuid, index) => [uuid, [...answers.take(commands[index].length)]]))
    const outputsOf = (uuid: string) => answersOf.get(uuid)?.map((answer) => virsh.outputOf(answer, action)) ?? []
    const failed = uuids.filter((uuid) => answersOf.get(uuid)?.some((answer) => 'failure' in answer))
    if (failed.length === 0) return uuids.map((uuid) => describe(uuid, found, outputsOf(uuid)))
    // Listed again, it is not gone.
    for (const uuid of failed) if (unread.has(uuid)) outputsOf(uuid)
    unread = new Set(failed)
  }
  throw new HoldfastError('LibvirtFailed', `Cannot ${action} on ${virsh.uri}: they change all the time`, {
    retryable: true,
  })
}
