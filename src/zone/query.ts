// A query is one reusable object: the packet it came in, what was asked, and the response as it grows in the same
// buffer behind the question. One per thread; nothing is allocated per query. Offsets called "message offsets" count
// from the start of the packet, as compression pointers do.

import { HASH_PRIME, HASH_SEED, LOWER } from './hash.ts'
import { Sha1 } from './sha1.ts'
import { HEADER, QUESTION_NAME } from './layout.ts'

/** Settings of one server block that answering needs. */
export interface View {
  /** Number of the block, for counters, logs and forwarders. */
  readonly block: number
  /** Which set of zones it serves: zones carry this number, and blocks may share one. */
  readonly space: number
  /** Lower-case wire names the block is responsible for. */
  readonly zones: readonly Uint8Array[]
  /** Upper limit for UDP answers. */
  readonly udpBytes: number
  readonly rotate: boolean
  readonly minimalAny: boolean
  /** What zones cannot answer goes to forwarders instead of being refused. */
  readonly handsOver: boolean
  /** Some zone has ZONE_FLAG.searches, and somebody searches. */
  readonly searches: boolean
  /** Bit per rcode: local answers with one of these go to the forwarders as well. */
  readonly handoverRcodes: number
  readonly nsid: Uint8Array | undefined
  /** Texts for version.bind and hostname.bind; undefined refuses the question. */
  readonly version: Uint8Array | undefined
  readonly hostname: Uint8Array | undefined
}

export const MAX_CHAIN = 16

/**
 * Why a query is for somebody else: no zone has it, its zone lets it fall through, an alias leads away, its rcode says
 * so (the forwarders), or it searches (the source of the zone).
 */
export const HANDOVER = { uncovered: 1, fallthrough: 2, alias: 3, rcode: 4, search: 5 } as const

/** What became of one name: the response is complete, goes on with an alias's target, has no room, is not here, or searches. */
export const STEP = { done: 0, alias: 1, truncate: 2, elsewhere: 3, search: 4 } as const

/** A writer is done with its switch of pointers long before this, even if it loses its turn; it must have died in it. */
const LONGEST_SWITCH_MS = 1000

export class Query {
  // The arena as it is now.
  words: Int32Array = new Int32Array(0)
  bytes: Uint8Array = new Uint8Array(0)
  view: DataView = new DataView(this.bytes.buffer)

  // The packet: `length` bytes from `base`; the buffer must hold `capacity` bytes from there.
  packet: Uint8Array = new Uint8Array(0)
  packetView: DataView = new DataView(this.packet.buffer)
  base = 0
  length = 0
  capacity = 0
  tcp = false

  // The question.
  type = 0
  klass = 0
  /** Message offset behind the question. */
  questionEnd = 0

  // EDNS.
  edns = false
  dnssecOk = false
  clientBytes = 512
  ednsVersion = 0
  nsidAsked = false
  keepaliveAsked = false
  /** Place of the client's cookie in the buffer `cookie`, 0 bytes when there is none. */
  cookieLength = 0
  readonly cookie: Uint8Array = new Uint8Array(40)

  /** The key and then the algorithm of the client's TSIG; 0 bytes when there is none. */
  readonly tsigNames: Uint8Array = new Uint8Array(510)
  tsigKeyLength = 0
  tsigAlgorithmLength = 0

  // The name looked for: the question's, later the target of an alias. Lower case; for each label where it starts and
  // the hash of the name from there to the root. Entry `labels` is the root.
  readonly name: Uint8Array = new Uint8Array(260)
  /** The same memory by words; the last word of the name is padded with zeros. */
  readonly nameWords: Int32Array = new Int32Array(this.name.buffer)
  nameLength = 0
  labels = 0
  readonly labelAt: Uint8Array = new Uint8Array(129)
  readonly labelHash: Int32Array = new Int32Array(129)
  /** Message offset where the name stands; the target of an alias may be compressed there. */
  nameOffset = 12

  // The zone that answers.
  zone = 0
  zoneSlot = 0
  /** Label of `name` at which the zone's origin starts, and the message offset where the origin stands. */
  zoneLabel = 0
  originOffset = 0
  /** Label of `name` at which its closest encloser starts, when the name was not found. */
  encloserLabel = 0
  /** Label of `name` at which the delegation or DNAME that rules it starts. */
  cutLabel = 0
  /** Node of the NSEC3 that matches the closest provable encloser (proof.ts). */
  provingNode = 0
  /** Message offset of the owner last written out by emitOwned. */
  ownerOffset = 0

  /** Number of the server block that was responsible. */
  block = 0
  /** One of HANDOVER when the answer was ELSEWHERE. */
  handover = 0

  /** Unix seconds. */
  now = 0

  // The response.
  at = 0
  limit = 0
  rcode = 0
  authoritative = false
  truncated = false
  answers = 0
  authorities = 0
  additionals = 0
  /** Proofs owed for wildcards along the chain, as (NSEC owner, zone, origin offset): they follow all answers. */
  readonly owed: Int32Array = new Int32Array(3 * (MAX_CHAIN + 1))
  owedCount = 0
  /** The aliases that were followed, and the message offsets of the names they were followed for. */
  readonly visited: Int32Array = new Int32Array(MAX_CHAIN)
  readonly linkOwners: Int32Array = new Int32Array(MAX_CHAIN)
  chain = 0
  /** The chain began at a name whose alias counts only if it leads to something (SETS_FLAG.services). */
  softChain = false
  /** Nodes whose addresses or NSEC are in the message already. */
  readonly included: Int32Array = new Int32Array(32)
  includedCount = 0
  /** Bytes of our OPT at the end of the response. */
  optLength = 0
  /** Rotates A and AAAA sets; the turn moves on with each. */
  rotate = true
  turn = 0

  // Scratch for canonical comparisons (nsec.ts), hashes (nsec3.ts) and synthesised names (alias.ts).
  readonly sha1: Sha1 = new Sha1()
  readonly hashInput: Uint8Array = new Uint8Array(512)
  readonly scratchName: Uint8Array = new Uint8Array(512)
  readonly labelStack: Int32Array = new Int32Array(128)
  readonly otherStack: Int32Array = new Int32Array(128)
  readonly #fence = new Int32Array(1)
  readonly #inOrder: boolean
  /** The version of a switch whose writer has died. */
  #abandoned = 0

  /** `inOrder`: the processor does loads in the order of the program (x86-64), so that plain ones will do. */
  constructor(inOrder = false) {
    this.#inOrder = inOrder
  }

  attach(buffer: SharedArrayBuffer): void {
    this.words = new Int32Array(buffer)
    this.bytes = new Uint8Array(buffer)
    this.view = new DataView(buffer)
  }

  /** Starts over for a packet; the response will grow in the same place. */
  open(packet: Uint8Array, base: number, length: number, capacity: number, tcp: boolean): void {
    if (packet !== this.packet) {
      this.packet = packet
      this.packetView = new DataView(packet.buffer, packet.byteOffset, packet.byteLength)
    }
    this.base = base
    this.length = length
    this.capacity = capacity
    this.tcp = tcp
    this.type = 0
    this.klass = 0
    this.questionEnd = 12
    this.edns = false
    this.dnssecOk = false
    this.clientBytes = 512
    this.ednsVersion = 0
    this.nsidAsked = false
    this.keepaliveAsked = false
    this.cookieLength = 0
    this.tsigKeyLength = 0
    this.nameOffset = 12
    this.nameLength = 0
    this.labels = 0
    this.zone = 0
    this.zoneSlot = 0
    this.rcode = 0
    this.optLength = 0
    this.clearSections()
    this.chain = 0
    this.softChain = false
    this.owedCount = 0
    this.handover = 0
  }

  /** The state of the zones that the answer begins with. */
  begin(): number {
    let version = this.#inOrder ? this.words[HEADER.version] : Atomics.load(this.words, HEADER.version)
    while ((version & 1) !== 0 && version !== this.#abandoned) {
      if (Atomics.wait(this.words, HEADER.version, version, LONGEST_SWITCH_MS) === 'timed-out')
        this.#abandoned = version
      version = Atomics.load(this.words, HEADER.version)
    }
    return version
  }

  /** Whether everything read since `begin` belongs together. The store keeps those reads before the load. */
  isWhole(version: number): boolean {
    if (this.#inOrder) return this.words[HEADER.version] === version
    Atomics.store(this.#fence, 0, 0)
    return Atomics.load(this.words, HEADER.version) === version
  }

  /** Back to the question as it was read. */
  restart(): void {
    this.nameOffset = QUESTION_NAME
    this.setName(this.packet, this.base + QUESTION_NAME, this.base + this.questionEnd)
    this.zone = 0
    this.zoneSlot = 0
    this.rcode = 0
    this.chain = 0
    this.softChain = false
    this.owedCount = 0
    this.handover = 0
    this.clearSections()
  }

  clearSections(): void {
    this.at = this.questionEnd
    this.authoritative = false
    this.truncated = false
    this.answers = 0
    this.authorities = 0
    this.additionals = 0
    this.includedCount = 0
  }

  /** Takes an uncompressed name as the one to look for; false when it is malformed. */
  setName(from: Uint8Array, start: number, limit: number): boolean {
    const { name, labelAt } = this
    let at = start
    let labels = 0
    for (;;) {
      if (at >= limit) return false
      const length = from[at]
      if (length === 0) break
      if (length > 63 || at + length - start > 253) return false
      labelAt[labels++] = at - start
      at += length + 1
    }
    const length = at - start
    labelAt[labels] = length
    this.labels = labels
    this.nameLength = length + 1
    name[length] = 0
    name[length + 1] = 0
    name[length + 2] = 0
    name[length + 3] = 0
    const { labelHash } = this
    let h = HASH_SEED
    labelHash[labels] = h
    let i = length - 1
    for (let label = labels - 1; label >= 0; label--) {
      const first = labelAt[label]
      for (; i >= first; i--) {
        const b = LOWER[from[start + i]]
        name[i] = b
        h = Math.imul(h ^ b, HASH_PRIME)
      }
      labelHash[label] = h
    }
    return true
  }

  /** Puts the wildcard below the ancestor at `label` into `scratchName`; returns its length. */
  setWildcard(label: number): number {
    const { name, nameLength, scratchName } = this
    const start = this.labelAt[label]
    scratchName[0] = 1
    scratchName[1] = 0x2a
    for (let i = start; i < nameLength; i++) scratchName[2 + i - start] = name[i]
    return 2 + nameLength - start
  }

  /** Message offset of the ancestor that starts at `label`. */
  suffixOffset(label: number): number {
    if (this.nameOffset === QUESTION_NAME) return QUESTION_NAME + this.labelAt[label]
    // The target of an alias is compressed, maybe before the label.
    const { packet, base } = this
    let at = this.nameOffset
    for (let passed = 0; ; ) {
      const length = packet[base + at]
      if (length >= 0xc0) at = ((length & 0x3f) << 8) | packet[base + at + 1]
      else if (passed++ === label) return at
      else at += length + 1
    }
  }

  /** Marks a node as included; false when it already was. Beyond what can be marked, rather twice than not at all. */
  include(node: number): boolean {
    for (let i = 0; i < this.includedCount; i++) if (this.included[i] === node) return false
    if (this.includedCount < this.included.length) this.included[this.includedCount++] = node
    return true
  }
}
