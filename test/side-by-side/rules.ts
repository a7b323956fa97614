// Every way in which our answers to SkyDNS questions differ from those of CoreDNS's etcd plugin. A rule's name is its id in
// docs/reference/deviations.md. `a` of a pair is ours, `b` theirs.

import { equalNames, isSubdomain, lowerName, parseName } from '../../src/dns/name.ts'
import { RCODE, TYPE } from '../../src/dns/types.ts'
import { isMessage, type Pair, type Part, type Rule } from '../conformance/compare.ts'
import {
  type Case,
  FOLLOWED,
  firstOfEach,
  fullOf,
  has,
  inBoth,
  isAbsence,
  isOfTarget,
  isOutcome,
  leavesOut,
  portAndTarget,
  sameSet,
  withoutSerial,
  withoutTtl,
} from './checks.ts'
import { evidence, hostName, isName } from './evidence.ts'
import type { Tree } from './random-tree.ts'

/** As long as asking everything takes. */
const LEASE_SECONDS = 60

export function rulesFor(prefix: string, trees: readonly Tree[]): Rule[] {
  const zones = trees.map((tree) => ({ tree, origin: parseName(tree.zone) }))
  const zoneOf = (name: Uint8Array) =>
    zones
      .filter(({ origin }) => isSubdomain(name, origin))
      .toSorted((one, other) => other.origin.length - one.origin.length)[0]
  const inspect = ({ query, a, b }: Pair): Case | undefined => {
    if (!isMessage(a) || !isMessage(b)) return undefined
    const name = lowerName(query.name)
    const zone = zoneOf(name)
    if (zone === undefined) return undefined
    const { origin } = zone
    const isInZone = (other: Uint8Array) => zoneOf(other) === zone
    const stored = evidence(prefix, zone.tree, name)
    const udpBytes = query.transport === 'tcp' ? 65_535 : query.udpBytes
    return { type: query.type, ours: a, theirs: b, origin, isInZone, stored, udpBytes }
  }
  // Rules are asked about one pair after the other.
  let latest: { readonly pair: Pair; readonly it: Case | undefined } | undefined
  const rule = (name: string, reason: string, covers: (part: Part, it: Case) => boolean): Rule => ({
    name,
    rfc: '',
    reason,
    kind: 'choice',
    covers: (part, pair) => {
      if (latest?.pair !== pair) latest = { pair, it: inspect(pair) }
      return latest.it !== undefined && covers(part, latest.it)
    },
  })

  return [
    rule('serial', 'a serial that moves without a change is none; ours is the revision of etcd', (part, it) =>
      inBoth(part, it, withoutSerial),
    ),
    rule(
      'name-exists',
      'a name with keys below it exists, and so does an apex (RFC 8020): no such name, and falling through, is for others',
      (part, { type, ours, theirs, stored }) =>
        isOutcome(part) &&
        ours.rcode === RCODE.NOERROR &&
        ours.answers.length === 0 &&
        isAbsence(theirs) &&
        (stored.isApex || ((type === TYPE.CNAME || type === TYPE.PTR) && stored.hasBelow)),
    ),
    rule(
      'soa-below-apex',
      'only the apex has the SOA; elsewhere it stands for no data or no such name (RFC 2308)',
      (part, { type, theirs, stored }) =>
        type === TYPE.SOA &&
        !stored.isApex &&
        isOutcome(part) &&
        theirs.answers.length === 1 &&
        theirs.answers[0].type === TYPE.SOA,
    ),
    rule(
      'end-of-alias',
      'the rcode is that of the last name (RFC 6604)',
      (part, { type, ours, theirs }) =>
        FOLLOWED.has(type) &&
        (part.field === 'rcode' || part.field === 'authorities') &&
        ours.rcode === RCODE.NXDOMAIN &&
        theirs.rcode === RCODE.NOERROR &&
        ours.answers.every(({ type: kind }) => kind === TYPE.CNAME) &&
        ours.answers.length > 0,
    ),
    rule('one-ttl', 'the records of a set have one TTL, the least (RFC 2181 section 5.2)', (part, it) => {
      if (!('record' in part) || !inBoth(part, it, withoutTtl)) return false
      const [{ ttlSeconds }] = sameSet(it.ours[part.field], part.record)
      return ttlSeconds === Math.min(...firstOfEach(sameSet(it.theirs[part.field], part.record)))
    }),
    rule(
      'alias-alone',
      'a name has one alias at most, and nothing beside it (RFC 2181 section 10.1): addresses come first, then the alias first in key order',
      (part, { type, ours, theirs, stored }) =>
        FOLLOWED.has(type) &&
        ['answers', 'authorities', 'aliasOrder', 'tc'].includes(part.field) &&
        stored.isCrowded &&
        (theirs.tc || ours.answers.every((record) => record.type === TYPE.TXT || has(theirs.answers, record))),
    ),
    rule(
      'alias-to-nothing',
      'an alias that leads nowhere is left out, in whichever of our zones it leads nowhere',
      (part, { type, ours, theirs, origin }) => {
        const last = theirs.answers.at(-1)
        return (
          FOLLOWED.has(type) &&
          (part.field === 'answers' || part.field === 'authorities') &&
          ours.answers.length === 0 &&
          last?.type === TYPE.CNAME &&
          zones.some((zone) => !equalNames(zone.origin, origin) && isSubdomain(lowerName(last.rdata), zone.origin))
        )
      },
    ),
    rule(
      'alias-asked-for',
      'the alias that addresses are found through is there when asked for, and one hidden by a text is not',
      (part, { type, stored: { own, hasBelow } }) =>
        type === TYPE.CNAME &&
        isOutcome(part) &&
        (hasBelow || (own !== undefined && (own.text !== '' || isName(own.host)))),
    ),
    rule(
      'hidden-alias',
      'the alias of a name is followed, too, where what is below the name hides it and answers nothing',
      (part, { type, ours, stored }) =>
        FOLLOWED.has(type) &&
        'record' in part &&
        ours.answers.some(
          ({ type: kind, rdata }) =>
            kind === TYPE.CNAME && stored.hiddenAliases.some((host) => equalNames(lowerName(rdata), hostName(host))),
        ),
    ),
    rule(
      'search-to-nothing',
      'a search that finds an alias finds what it leads to, and nothing where that is nothing',
      (part, { type, ours, theirs, stored }) =>
        stored.isSearch &&
        FOLLOWED.has(type) &&
        ['answers', 'authorities', 'tc'].includes(part.field) &&
        ours.answers.length === 0 &&
        theirs.answers.every(({ type: kind }) => kind === TYPE.CNAME),
    ),
    rule(
      'same-target',
      'services of one target and port with different priorities or weights are all there',
      (part, { ours, theirs }) =>
        part.field === 'answers' &&
        part.record.type === TYPE.SRV &&
        ours.answers.includes(part.record) &&
        theirs.answers.some(
          ({ type, rdata }) => type === TYPE.SRV && portAndTarget(rdata) === portAndTarget(part.record.rdata),
        ),
    ),
    rule(
      'empty-value',
      'a value of neither host nor text is a mistake: the log says so, and it answers for nothing',
      (_, { stored }) => stored.values.some(({ host, text, isBroken }) => host === '' && text === '' && !isBroken),
    ),
    rule(
      'broken-value',
      'a value that cannot be read harms its own key alone',
      (_, { theirs, stored }) =>
        stored.values.some(({ isBroken }) => isBroken) && (theirs.rcode === RCODE.SERVFAIL || stored.values.length > 1),
    ),
    rule(
      'name-server-by-name',
      'a name server may be given by name',
      (part, { type, stored }) =>
        type === TYPE.NS && isOutcome(part) && stored.isApex && stored.values.some(({ host }) => isName(host)),
    ),
    rule(
      'stripped-name',
      'targetstrip is about names made from keys; a host that is a name is the target as it stands',
      (part, { type, stored }) =>
        (type === TYPE.SRV || type === TYPE.MX || type === TYPE.NS) &&
        'record' in part &&
        stored.values.some(({ host, targetstrip }) => isName(host) && targetstrip > 0),
    ),
    rule(
      'text-as-stored',
      'a text is its bytes: a backslash is one, and 255 bytes are one string',
      (part, { stored }) =>
        'record' in part &&
        part.record.type === TYPE.TXT &&
        stored.values.some(({ text }) => text.includes('\\') || (text.length > 0 && text.length % 255 === 0)),
    ),
    rule(
      'key-spelling',
      'keys spell names: letter case does not count, bytes are what they are, and empty labels are none',
      (part, { stored }) => stored.isMisspelled && (isOutcome(part) || part.field === 'tc'),
    ),
    rule(
      'additional-addresses',
      'what comes with an answer is what asking for its targets gets, inside the zone',
      (part, it) =>
        (part.field === 'additionals' && isOfTarget(part.record, it)) || (part.field === 'tc' && leavesOut(it)),
    ),
    rule(
      'truncated',
      'which part of an answer that does not fit is sent is open; the client asks again over TCP (RFC 2181 section 9)',
      (part, { ours, theirs }) => 'record' in part && (ours.tc || theirs.tc) && !has(fullOf(ours, theirs), part.record),
    ),
    rule('lease-seconds', 'leases run while the servers are asked', (part, it) => {
      if (!('record' in part) || !it.stored.values.some(({ isLeased }) => isLeased)) return false
      const ttls = [it.ours, it.theirs].map((side) => sameSet(side[part.field], part.record).map((r) => r.ttlSeconds))
      return Math.abs(Math.min(...ttls[0]) - Math.min(...ttls[1])) < LEASE_SECONDS && inBoth(part, it, withoutTtl)
    }),
  ]
}
