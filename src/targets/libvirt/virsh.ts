// A hypervisor by virsh, on this host or another one. What is as wanted already counts as done: to start a domain that
// runs, or to end one that does not, is no error. libvirt may say so in any language, so the state tells.

import { isBlockDevice } from './disk-source.ts'
import type { AgentCommand, EnterOptions, HostFacts, Hypervisor, NewVolume, Volume, VolumePart } from './hypervisor.ts'
import { readCapabilitiesXml, readElementText } from './libvirt-xml.ts'
import { RECORD_ELEMENT, RECORD_NAMESPACE, RECORD_PREFIX } from './record-xml.ts'
import { virshError } from './virsh-errors.ts'
import { enterContainer, powerOffContainer } from './virsh-container.ts'
import { askAgent } from './virsh-guest.ts'
import { listHostInterfaces } from './virsh-interfaces.ts'
import { askState, listDomains, listNetworks, listPools, readState } from './virsh-lists.ts'
import { isLocalUri, type VirshOptions, VirshProcess, withFile } from './virsh-process.ts'
import { createVolume, deleteVolume, downloadVolume, findDirectory, findVolume, uploadVolume } from './virsh-volumes.ts'
import { xmlText } from './xml-text.ts'

const TIMEOUT_MS = 60_000
/** Of a machine with much memory, or one that does not want to end. */
const SLOW_TIMEOUT_MS = 180_000

export function openHypervisor(uri: string, options: VirshOptions): Hypervisor {
  return new Virsh(uri, options)
}

class Virsh implements Hypervisor {
  readonly uri: string
  readonly kind: 'qemu' | 'lxc'
  readonly isLocal: boolean
  readonly #virsh: VirshProcess
  readonly #options: VirshOptions

  constructor(uri: string, options: VirshOptions) {
    this.uri = uri
    this.isLocal = isLocalUri(uri)
    this.#virsh = new VirshProcess(uri, options)
    this.kind = this.#virsh.isOfContainers ? 'lxc' : 'qemu'
    this.#options = options
  }

  until(signal: AbortSignal): Hypervisor {
    return new Virsh(this.uri, { ...this.#options, signal })
  }

  async host(): Promise<HostFacts> {
    const action = 'read what the host has'
    const commands = [['hostname'], ['capabilities'], ['nodeinfo'], ['nodememstats']]
    const answers = await this.#virsh.ask(commands, { action, timeoutMs: TIMEOUT_MS })
    const [name, capabilities, info, memory] = answers.map((answer) => this.#virsh.outputOf(answer, action))
    return {
      name: name.trim(),
      ...readCapabilitiesXml(capabilities),
      cpus: numberAt(info, 'CPU\\(s\\)'),
      memoryMib: Math.floor(numberAt(memory, 'total') / 1024),
      // The kernel gives back what it keeps of files as soon as it is wanted.
      freeMemoryMib: Math.floor(
        ['free', 'buffers', 'cached'].reduce((sum, key) => sum + numberAt(memory, key), 0) / 1024,
      ),
    }
  }

  domains() {
    return listDomains(this.#virsh)
  }

  state(domain: string) {
    return askState(this.#virsh, domain)
  }

  async define(xml: string): Promise<void> {
    await withFile(xml, (file) => this.#do('define a domain', ['define', '--file', file]))
  }

  async start(domain: string): Promise<void> {
    await this.#acceptEnd(domain)
    await this.#bring(domain, 'on', `start domain "${domain}"`, ['start', '--domain', domain])
  }

  async shutdown(domain: string): Promise<void> {
    if (this.kind === 'lxc') return powerOffContainer(this.#virsh, domain)
    const action = `shut down domain "${domain}"`
    const command = ['shutdown', '--domain', domain]
    const [answer] = await this.#virsh.ask([[...command, '--mode', 'agent']], { action, timeoutMs: SLOW_TIMEOUT_MS })
    if ('failure' in answer) await this.#bring(domain, 'off', action, [...command, '--mode', 'acpi'])
  }

  destroy(domain: string): Promise<void> {
    return this.#bring(domain, 'off', `end domain "${domain}"`, ['destroy', '--domain', domain])
  }

  async undefine(domain: string): Promise<void> {
    await this.#acceptEnd(domain)
    // Containers have neither, and refuse to be asked.
    const more =
      this.kind === 'qemu' ? ['--managed-save', '--nvram', '--snapshots-metadata', '--checkpoints-metadata'] : []
    await this.#do(`remove domain "${domain}"`, ['undefine', '--domain', domain, ...more])
  }

  autostart(domain: string, isOn: boolean): Promise<void> {
    const action = `turn autostart of domain "${domain}" ${isOn ? 'on' : 'off'}`
    return this.#do(action, ['autostart', '--domain', domain, ...(isOn ? [] : ['--disable'])])
  }

  setMetadata(domain: string, element: string): Promise<void> {
    // libvirt adds prefix and namespace itself, and cannot where they are.
    const plain = `<${RECORD_ELEMENT}>${xmlText(readElementText(element))}</${RECORD_ELEMENT}>`
    const where = ['--domain', domain, '--uri', RECORD_NAMESPACE, '--key', RECORD_PREFIX]
    return this.#doNowAndLater(`set the metadata of domain "${domain}"`, ['metadata', ...where, '--set', plain])
  }

  changeMedia(domain: string, device: string, path: string): Promise<void> {
    const source = ['--source', path, ...(isBlockDevice(path) ? ['--block'] : [])]
    const command = ['change-media', '--domain', domain, '--path', device, ...source, '--update']
    return this.#doNowAndLater(`put "${path}" into drive "${device}" of domain "${domain}"`, command)
  }

  networks() {
    return listNetworks(this.#virsh)
  }

  hostInterfaces() {
    return listHostInterfaces(this.#virsh, this.isLocal)
  }

  pools() {
    return listPools(this.#virsh)
  }

  findVolume(id: string) {
    return this.kind === 'lxc' && id.startsWith('/') ? findDirectory(this.#virsh, id) : findVolume(this.#virsh, id)
  }

  createVolume(volume: NewVolume) {
    return createVolume(this.#virsh, volume)
  }

  upload(volume: Volume, file: string) {
    return uploadVolume(this.#virsh, volume, file)
  }

  download(volume: Volume, file: string, part?: VolumePart) {
    return downloadVolume(this.#virsh, volume, file, part)
  }

  deleteVolume(volume: Volume) {
    return deleteVolume(this.#virsh, volume)
  }

  agent(domain: string, command: AgentCommand, timeoutMs: number) {
    return askAgent(this.#virsh, domain, command, timeoutMs)
  }

  enter(domain: string, command: readonly string[], options: EnterOptions) {
    return enterContainer(this.#virsh, domain, command, options)
  }

  /** libvirt may take a container that has ended for one that runs. */
  async #acceptEnd(domain: string): Promise<void> {
    if (this.kind === 'lxc' && (await this.state(domain))?.state === 'shut off') await this.destroy(domain)
  }

  async #do(action: string, command: readonly string[]): Promise<void> {
    await this.#virsh.tell(command, { action, timeoutMs: SLOW_TIMEOUT_MS })
  }

  async #bring(domain: string, to: 'on' | 'off', action: string, command: readonly string[]): Promise<void> {
    const commands = [command, ['domstate', '--domain', domain]]
    const [done, after] = await this.#virsh.ask(commands, { action, timeoutMs: SLOW_TIMEOUT_MS })
    if ('output' in done) return
    const is = 'failure' in after ? undefined : readState(after.output).state === 'shut off' ? 'off' : 'on'
    if (is !== to) throw virshError(action, this.uri, done.failure)
  }

  /** In the definition and, where it runs, at once: of one that is off, the current state is its definition. */
  async #doNowAndLater(action: string, command: readonly string[]): Promise<void> {
    const commands = [
      [...command, '--config'],
      [...command, '--current'],
    ]
    const answers = await this.#virsh.ask(commands, { action, timeoutMs: SLOW_TIMEOUT_MS })
    for (const answer of answers) this.#virsh.outputOf(answer, action)
  }
}

function numberAt(text: string, key: string): number {
  return Number(new RegExp(`^${key}\\s*:\\s*(\\d+)`, 'mu').exec(text)?.[1])
}
