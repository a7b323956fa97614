// Everything that can be done with a stack by its file: plan, up, status. It knows where the stack lives and what is in its
// file; how machines are made real is the target's business, in which order the business of apply/.

import { randomUUID } from 'node:crypto'
import { chmod, mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { MemberPlace } from '../clusters/etcd/settings.ts'
import { patroniAccess } from '../clusters/postgres/access.ts'
import { type PostgresFacts, readFacts } from '../clusters/postgres/facts.ts'
import { PATRONI_SERVICE } from '../clusters/postgres/machines.ts'
import { membersWithUnusableData } from '../clusters/postgres/unusable-data.ts'
import type { Keyring, Site } from '../clusters/site.ts'
import { replaceFile } from '../lib/atomic-file.ts'
import { HoldfastError } from '../lib/errors.ts'
import { reveal } from '../machine/content.ts'
import type { Machine } from '../machine/machine.ts'
import type { Finding } from '../targets/finding.ts'
import type { ExistingMachine } from '../targets/target.ts'
import { applyStack } from './apply/apply-stack.ts'
import { clientFiles } from './client-files.ts'
import { Clients } from './clients.ts'
import { stackDirectory } from './directory.ts'
import { type HandleContext, StackHandle, withoutGone } from './handle.ts'
import { homesOf, homesOn, hypervisorsOf } from './homes.ts'
import { StackKeyring } from './keyring.ts'
import { writeKept } from './kept.ts'
import { readAddresses } from './addresses-file.ts'
import { loadStack, machineAddresses } from './load-stack.ts'
import type { HostNeeds } from './places/place.ts'
import type { Plan } from './plan.ts'
import { PlanChangedError } from './plan-changed.ts'
import { NO_POSTGRES, type PlannedStack, planStack, type StackFacts } from './plan-stack.ts'
import type { Progress } from './progress.ts'
import { readStatus } from './read-status.ts'
import { examples } from './examples.ts'
import { readRecord, type StackRecord } from './record.ts'
import { recall, recordOf } from './remembered.ts'
import { refuseImpossible } from './refuse-impossible.ts'
import { refuseUnseen } from './refuse-unseen.ts'
import { renderMachines } from './render-machines.ts'
import { refuseMore } from './refuse-more.ts'
import { inRounds } from './rounds.ts'
import { machineSpecs, type Stack } from './stack.ts'
import { versionProblem } from './version-problem.ts'
import type { StackStatus } from './status.ts'

export interface OperatorOptions extends Omit<HandleContext, 'name'> {
  /** Path of the stack file. */
  readonly file: string
}

export interface UpOptions {
  readonly progress: Progress
  readonly signal: AbortSignal
  /** For each cluster to become ready. */
  readonly timeoutMs: number
  /** Take over a stack that was brought up from another file. */
  readonly adopt: boolean
  /** The plan that the user has confirmed: nothing else is done. Undefined: whatever is necessary. */
  readonly confirmed?: Plan | undefined
}

interface Opened {
  readonly stack: Stack
  readonly keyring: StackKeyring
  /** As it was read, and as it is gone on with. */
  readonly remembered: StackRecord | undefined
  readonly record: StackRecord | undefined
}

/** Another authority takes over in steps (trusted by all, then used by all), each a run of its own. */
const MOST_ROUNDS = 4

export class Operator extends StackHandle {
  readonly stack: Stack
  /** What there is data of, else what a new cluster gets. */
  #postgresVersion = ''
  #versionProblem: HoldfastError | undefined
  #keyring: StackKeyring
  readonly #id: string
  #record: StackRecord | undefined

  static async open({ file, ...context }: OperatorOptions): Promise<Operator> {
    const { state, env } = context
    const kept = async (name: string) => readAddresses(stackDirectory(state, name).addresses)
    const stack = await loadStack({ file, env, kept })
    const directory = stackDirectory(state, stack.name)
    const [keyring, remembered] = await Promise.all([
      openKeyring(stack, directory.secrets),
      readRecord(directory.record),
    ])
    refuseOtherTarget(stack, remembered)
    refuseWithout(stack, context.without)
    const record = withoutGone(remembered, context.without)
    const operator = new Operator({ ...context, name: stack.name }, { stack, keyring, remembered, record })
    await operator.#chooseVersion()
    return operator
  }

  private constructor(context: HandleContext, { stack, keyring, remembered, record }: Opened) {
    const id = record?.id ?? randomUUID()
    super(context, {
      target: stack.target,
      remembered,
      stackId: id,
      hypervisors: [...new Set([...hypervisorsOf(stack), ...(record?.hypervisors ?? [])])],
      homes: new Map(Object.entries(record?.homes ?? {})),
      hardware: new Map(machineSpecs(stack).map(({ name, hardware }) => [name, hardware])),
    })
    this.stack = stack
    this.#keyring = keyring
    this.#record = record
    this.#id = id
  }

  /** Of PostgreSQL's data, where the stack has some. */
  get dataVersion(): string | undefined {
    return this.stack.postgres === undefined ? undefined : this.#record?.postgresVersion
  }

  /** The machines as they should be. Credentials that are not there yet have placeholders. */
  async machines(): Promise<readonly Machine[]> {
    this.#refuseVersion()
    return this.#render(await this.target.read())
  }

  /** What would change. Nothing is touched. */
  async plan(signal: AbortSignal): Promise<Plan> {
    return this.#compare(await this.#look(this.#record?.isComplete === false, signal)).plan
  }

  /** What this host needs. Nobody is asked for that: what to ask with may be what is missing. */
  needs(): HostNeeds {
    return this.place.needs(this.#render(new Map()))
  }

  /** Likewise: hypervisors that do not answer are among what is found. */
  async checkHost(signal: AbortSignal): Promise<readonly Finding[]> {
    return this.place.check(this.#render(new Map()), { postgresVersion: this.dataVersion, signal })
  }

  async up(options: UpOptions): Promise<void> {
    await this.refuseElsewhere(options.adopt)
    this.listen(options.progress)
    await this.alone(async (now) => {
      const isResumed = now?.isComplete === false
      let facts = await this.#look(isResumed, options.signal)
      // Before credentials are made: they change what the machines get.
      const { plan } = this.#compare(facts)
      if (options.confirmed !== undefined && options.confirmed.digest !== plan.digest) throw new PlanChangedError(plan)
      await this.#prepare(facts)
      await inRounds(MOST_ROUNDS, this.name, async (round) => {
        if (round > 0 && options.confirmed !== undefined) refuseMore(this.#compare(facts).plan)
        await this.#keyring.issue(options.signal)
        await this.#apply(facts, options)
        if (!(await this.#keyring.settle())) return true
        this.#keyring = await openKeyring(this.stack, this.directory.secrets)
        facts = await this.#look(isResumed, options.signal)
        return false
      })
      await this.#conclude()
    })
  }

  async #conclude(): Promise<void> {
    // Addresses of machines that are gone by now are free again.
    await writeKept(this.directory.addresses, machineAddresses(this.stack))
    // One that does not answer now may still have machines that left the file.
    const unread = this.target.unread().map(({ where }) => where)
    const silent = (this.#record?.hypervisors ?? []).filter((uri) => unread.includes(uri))
    await this.#remember({
      isComplete: true,
      hypervisors: [...hypervisorsOf(this.stack), ...silent],
      homes: { ...homesOn(this.#record, silent), ...homesOf(this.stack) },
    })
    await this.target.settle()
  }

  async status(signal: AbortSignal): Promise<StackStatus> {
    const { stack, target, directory } = this
    const existing = await target.read({ isTolerant: true })
    const machines = this.#render(existing)
    const clients = this.#clients(existing, this.#keyring.inUse())
    const overseer = target.overseer()
    // Another command may have stopped it since this one began to watch.
    const record = recordOf(await recall(directory))
    try {
      return {
        stack: stack.name,
        file: stack.file,
        directory: directory.path,
        isSupervised: overseer.isThere,
        supervisorPid: overseer.pid,
        ...(await readStatus({
          stack,
          target,
          clients,
          machines,
          existing,
          expiries: this.#keyring.expiries(),
          isSupervised: overseer.isThere,
          isCreated: record !== undefined,
          stoppedAt: record?.stoppedAt,
          signal,
        })),
        examples: examples(stack, directory.client),
      }
    } finally {
      clients.close()
    }
  }

  /** Data keeps the version that made it. */
  async #chooseVersion(): Promise<void> {
    const { postgres, name } = this.stack
    if (postgres === undefined) return
    const kept = this.#record?.postgresVersion
    const { version, available } = await this.place.postgresVersion(this.stack)
    this.#postgresVersion = kept ?? version
    this.#versionProblem = versionProblem({ stack: name, asked: postgres.version, kept, available })
  }

  /** Only what changes machines is refused: a stack that runs can be looked at. */
  #refuseVersion(): void {
    if (this.#versionProblem !== undefined) throw this.#versionProblem
  }

  async #prepare({ existing }: StackFacts): Promise<void> {
    const { directory, stack } = this
    await mkdir(directory.path, { recursive: true, mode: 0o711 })
    await this.#letServicesPass()
    const addresses = [...existing.values()].map(({ name, address }) => [name, address])
    await writeKept(directory.addresses, { ...Object.fromEntries(addresses), ...machineAddresses(stack) })
    const postgresVersion = stack.postgres === undefined ? undefined : this.#postgresVersion
    const hypervisors = [...new Set([...hypervisorsOf(stack), ...(this.#record?.hypervisors ?? [])])]
    // Until all is well, what was at home there counts.
    const homes = { ...homesOf(stack), ...this.#record?.homes }
    await this.#remember({ isComplete: false, postgresVersion, hypervisors, homes, stoppedAt: undefined })
  }

  /** Their users need what lies below; a name server that was here first may have closed the directory for others. */
  async #letServicesPass(): Promise<void> {
    const stacks = dirname(this.directory.path)
    for (const path of [dirname(stacks), stacks, this.directory.path]) {
      const { mode, uid } = await stat(path)
      if ((mode & 0o011) !== 0o011 && uid === process.geteuid?.()) await chmod(path, (mode & 0o777) | 0o011)
    }
  }

  async #apply(facts: StackFacts, { progress, signal, timeoutMs }: UpOptions): Promise<void> {
    const { stack, target } = this
    const { existing, states } = facts
    const { plan, machines, foreignRestarts } = this.#compare(facts)
    await this.#writeClientFiles()
    const clients = this.#clients(existing)
    const renderMember = (name: string, members: readonly MemberPlace[]) => {
      const machine = this.#render(existing, members).find((each) => each.name === name)
      if (machine === undefined) throw new Error(`no machine ${name}`)
      return machine
    }
    const plans = new Map(plan.machines.map((each) => [each.machine, each]))
    try {
      await applyStack(
        {
          stack,
          target,
          clients,
          machines,
          renderMember,
          plans,
          restarts: {
            machines: new Set(plan.restarts.map(({ machine }) => machine)),
            foreign: new Set(foreignRestarts),
          },
          existing,
          states,
          progress,
          signal,
          timeoutMs,
        },
        {
          isFormed: this.#record?.isEtcdFormed === true,
          onFormed: (isEtcdFormed) => this.#remember({ isEtcdFormed }),
        },
      )
    } finally {
      clients.close()
    }
  }

  async #writeClientFiles(): Promise<void> {
    const { client } = this.directory
    await mkdir(client, { recursive: true, mode: 0o700 })
    for (const { name, content } of clientFiles(this.stack, this.#site(), client))
      await replaceFile(join(client, name), reveal(content), 0o600)
  }

  async #remember(news: Partial<StackRecord>): Promise<void> {
    const nothing = { isEtcdFormed: false, isComplete: false, postgresVersion: undefined, hypervisors: [] }
    const { file, target } = this.stack
    const record = { ...nothing, ...this.#record, ...news, id: this.#id, file, target }
    await this.remember(record)
    this.#record = record
  }

  /** A stack of the same name, in another place or from another file. */
  async refuseElsewhere(adopt: boolean): Promise<void> {
    const { stack } = this
    await this.place.refuseElsewhere()
    const what = `Cannot bring up "${stack.name}": a stack of that name`
    const file = this.#record?.file
    if (file === undefined || file === stack.file || adopt) return
    throw new HoldfastError('StackElsewhere', `${what} was brought up from ${file}; give this one another name`, {
      hint: 'if it is the same stack and its file was moved, "holdfast up --adopt" takes it over',
    })
  }

  /** Reads what there is; nothing is touched. */
  async #look(isResumed: boolean, signal: AbortSignal): Promise<StackFacts> {
    this.#refuseVersion()
    const existing = await this.target.read()
    const states = await this.target.observe()
    const machines = this.#render(existing)
    refuseImpossible(this.stack, machines, existing)
    const hardware = await this.target.compareHardware(machines.filter(({ name }) => existing.has(name)))
    refuseUnseen(machines, existing, { homes: this.#record?.homes ?? {}, unread: this.target.unread() })
    return { existing, states, hardware, postgres: await this.#askPostgres(existing, states, signal), isResumed }
  }

  /** Undefined where there is none to ask. */
  async #askPostgres(
    existing: StackFacts['existing'],
    states: StackFacts['states'],
    signal: AbortSignal,
  ): Promise<PostgresFacts | undefined> {
    const members = [...existing.values()].filter(({ kind }) => kind === 'postgres')
    if (this.stack.postgres === undefined || members.length === 0) return undefined
    const isUp = members.some(({ name }) => states.get(name)?.services.get(PATRONI_SERVICE)?.state === 'running')
    if (!isUp) return NO_POSTGRES
    const clients = this.#clients(existing, this.#keyring.inUse())
    try {
      const [facts, unusable] = await Promise.all([
        readFacts(clients.patroni(), clients.postgresPassword(), signal),
        membersWithUnusableData(clients.patroni(), this.stack.postgres.patroni, signal),
      ])
      return { ...facts, ...unusable }
    } finally {
      clients.close()
    }
  }

  #compare(facts: StackFacts): PlannedStack & { readonly machines: readonly Machine[] } {
    const machines = this.#render(facts.existing)
    const planned = planStack({
      ...{ stack: this.stack, machines, facts, withOwners: this.place.setsOwners },
      hardwareOf: (machine) => this.place.hardwareOf(machine),
      credentials: this.#keyring.pending,
      remarks: this.#keyring.remarks,
      isEtcdFormed: this.#record?.isEtcdFormed === true,
    })
    return { ...planned, machines }
  }

  #render(existing: ReadonlyMap<string, ExistingMachine>, members?: readonly MemberPlace[]): Machine[] {
    const all = [...existing.values()]
    const formed = this.#record?.isEtcdFormed === true ? all.filter(({ kind }) => kind === 'etcd') : []
    const dnsFiles = all.filter(({ kind }) => kind === 'dns').map(({ files }) => files)
    const site = this.#site()
    // What we need ourselves is made and renewed together with what the machines need.
    clientFiles(this.stack, site, this.directory.client)
    if (this.stack.postgres !== undefined) patroniAccess(this.stack.postgres, site.keyring)
    const machines = renderMachines(this.stack, site, { etcd: members ?? formed, dnsFiles })
    return machines.map((machine) => this.place.complete(machine, site))
  }

  #clients(existing: ReadonlyMap<string, ExistingMachine>, keyring: Keyring = this.#keyring): Clients {
    const staying = new Set(machineSpecs(this.stack).map(({ name }) => name))
    const leaving = [...existing.values()].filter(({ name }) => !staying.has(name))
    return new Clients(this.stack, { ...this.#site(), keyring }, this.directory.client, leaving)
  }

  #site(): Site {
    return {
      stack: this.stack.name,
      domain: this.stack.domain,
      ...this.place.site(this.#postgresVersion),
      postgresVersion: this.#postgresVersion,
      keyring: this.#keyring,
    }
  }
}

function refuseWithout(stack: Stack, gone: readonly string[] = []): void {
  const used = hypervisorsOf(stack).find((uri) => gone.includes(uri))
  if (used === undefined) return
  throw new HoldfastError(
    'Usage',
    `Cannot go on without "${used}": ${stack.file} has machines there; give them another "hypervisor" first`,
  )
}

/** Its data would stay behind, and its members would wait for each other on both sides. */
function refuseOtherTarget({ name, target }: Stack, record: StackRecord | undefined): void {
  if (record === undefined || record.target === target) return
  throw new HoldfastError(
    'StackElsewhere',
    `Cannot use target "${target}" for "${name}": its machines are on target "${record.target}"; expected another name for the stack`,
    { hint: `"holdfast down ${name} --purge" removes the one there is` },
  )
}

function openKeyring({ name, authority }: Stack, directory: string): Promise<StackKeyring> {
  return StackKeyring.open(directory, { stack: name, ...(authority !== undefined && { authority }) })
}
