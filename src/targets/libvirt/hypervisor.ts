// What we need of libvirt, and no more. virsh.ts implements it; what stands above never sees a command line or XML of
// libvirt's answers.

export interface Hypervisor {
  readonly uri: string
  /** `lxc`: containers, which boot the same images with the same cloud-init. */
  readonly kind: 'qemu' | 'lxc'
  /** Whether it is the host we run on: then files of ours are files of its. */
  readonly isLocal: boolean

  /** The same one, for work that another signal ends: what has to be cleared away when the usual one was aborted. */
  until(signal: AbortSignal): Hypervisor

  host(): Promise<HostFacts>
  /** All of them, those of others too; asked with as few calls as there can be. */
  domains(): Promise<readonly Domain[]>
  /** Of one alone, by name; undefined when there is none. */
  state(domain: string): Promise<DomainState | undefined>
  /** From then on it is there; a running one goes on as it is until it starts again. */
  define(xml: string): Promise<void>
  start(domain: string): Promise<void>
  /** Asks it to end, by its agent or else by its power button. */
  shutdown(domain: string): Promise<void>
  /** Ends it, whatever it does. */
  destroy(domain: string): Promise<void>
  /** With its NVRAM and saved state, without its volumes. */
  undefine(domain: string): Promise<void>
  autostart(domain: string, isOn: boolean): Promise<void>
  /** Replaces the text of our element in the metadata of a domain, at once and for later starts. */
  setMetadata(domain: string, element: string): Promise<void>
  /** Puts another volume into a CD-ROM drive, at once and for later starts. The guest must not have it mounted. */
  changeMedia(domain: string, device: string, path: string): Promise<void>

  networks(): Promise<readonly Network[]>
  /** Names of the network interfaces of the host. */
  hostInterfaces(): Promise<readonly string[]>
  pools(): Promise<readonly Pool[]>
  /** By its key or path, or by `POOL/NAME`; undefined when there is none. */
  findVolume(id: string): Promise<Volume | undefined>
  createVolume(volume: NewVolume): Promise<Volume>
  /** Replaces its content by that of a file of ours. */
  upload(volume: Volume, file: string): Promise<void>
  /** Writes its content, or a part of it, to a file of ours. */
  download(volume: Volume, file: string, part?: VolumePart): Promise<void>
  deleteVolume(volume: Volume): Promise<void>

  /** A command for the guest agent (JSON), and what it returns. Rejects with GuestSilent when nobody answers in time. */
  agent(domain: string, command: AgentCommand, timeoutMs: number): Promise<unknown>
  /** Runs a command inside a container. */
  enter(domain: string, command: readonly string[], options: EnterOptions): Promise<Ended>
}

export interface AgentCommand {
  readonly execute: string
  readonly arguments?: object
}

export interface EnterOptions {
  readonly input?: Uint8Array
  readonly timeoutMs: number
}

export interface Ended {
  readonly code: number
  readonly output: string
  readonly errors: string
}

export interface HostFacts {
  readonly name: string
  readonly arch: string
  readonly cpus: number
  readonly memoryMib: number
  readonly freeMemoryMib: number
  /** `kvm`, `qemu`, `lxc`. That one is in the list does not mean that it works. */
  readonly domainTypes: readonly string[]
  /** Models of security that are in force: `apparmor`, `selinux`, `dac`. */
  readonly security: readonly string[]
}

export interface DomainState {
  readonly state: 'running' | 'paused' | 'shut off' | 'crashed' | 'other'
  /** Why it is paused, in libvirt's words, such as `I/O error`. */
  readonly reason?: string | undefined
}

export interface Domain extends DomainState {
  readonly name: string
  readonly uuid: string
  readonly isPersistent: boolean
  readonly isAutostarted: boolean
  /** As it starts the next time. */
  readonly definition: DomainFacts
  /** As it runs; undefined when it does not. */
  readonly live: DomainFacts | undefined
  /** The text of our element in its metadata; undefined when it is not ours. */
  readonly metadata: string | undefined
}

export interface DomainFacts {
  readonly type: string
  readonly vcpus: number
  readonly memoryMib: number
  /** What it may be given at most, which is what it was defined with; `memoryMib` may be less for a while. */
  readonly maxMemoryMib?: number
  readonly macs: readonly string[]
  /** Paths of its disks. */
  readonly disks: readonly string[]
}

export interface Network {
  readonly name: string
  readonly uuid: string
  readonly isActive: boolean
  /** `nat`, `route`, `open`, `bridge`, or undefined where it is isolated. */
  readonly forward: string | undefined
  /** Addresses of the host on it. */
  readonly addresses: readonly { readonly address: string; readonly prefixLength: number }[]
  /** Addresses that DHCP gives away. */
  readonly ranges: readonly { readonly first: string; readonly last: string }[]
}

export interface Pool {
  readonly name: string
  readonly isActive: boolean
  readonly type: string
  readonly path: string | undefined
  readonly availableBytes: number
}

export interface Volume {
  readonly pool: string
  readonly name: string
  /** For most pools its path. */
  readonly key: string
  readonly path: string
  readonly format: string
  readonly capacityBytes: number
  readonly allocationBytes: number
  /** When its content was written last, as text; pools of files know. */
  readonly modified?: string
}

export interface VolumePart {
  readonly offset: number
  readonly length: number
}

export interface NewVolume {
  readonly pool: string
  readonly name: string
  readonly format: 'qcow2' | 'raw'
  readonly capacityBytes: number
  /** What it reads where nothing was written yet. */
  readonly backing?: Volume
}
