// Every way in which two correct servers may answer differently, with the RFC that permits it. The rules know nothing
// of particular servers; each looks only at the query and the two answers.

import { encodeMessage, type Message, type ResourceRecord } from '../../src/dns/message.ts'
import { equalNames, isSubdomain, lowerName } from '../../src/dns/name.ts'
import { RCODE, TYPE } from '../../src/dns/types.ts'
import { inOrder, isMessage, type Pair, type Rule } from './compare.ts'
import { recordLine } from './response.ts'
import { ODD_RULES } from './rules-odd.ts'

/** The most a server of ours or theirs sends over UDP unless told otherwise. */
const UDP_BYTES = 1232

export function rulesFor(origins: readonly Uint8Array[]): Rule[] {
  const zoneOf = (name: Uint8Array): Uint8Array | undefined =>
    origins.filter((origin) => isSubdomain(name, origin)).sort((a, b) => b.length - a.length)[0]

  const rules: Rule[] = [
    {
      name: 'apex NS with an answer',
      rfc: 'RFC 1034 4.3.2',
      reason: 'the NS records of the zone itself may accompany an answer; nobody needs them there',
      kind: 'optional',
      covers: (part, { query, a, b }) =>
        'record' in part &&
        part.field === 'authorities' &&
        covered(part.record) === TYPE.NS &&
        origins.some((origin) => equalNames(origin, part.record.name)) &&
        !sideWith(part.record, a, b).answers.every((record) => isAlias(record) && query.type !== record.type),
    },
    {
      name: 'additional addresses',
      rfc: 'RFC 1034 4.3.2 step 6, RFC 2181 9',
      reason: 'addresses of the names in an answer are useful, not required, outside of in-domain glue',
      kind: 'optional',
      covers: (part, { a, b }) =>
        'record' in part && part.field === 'additionals' && isAddress(part.record) && !isGlue(part.record, a, b),
    },
    {
      name: 'additional services',
      rfc: 'RFC 9460 4.1',
      reason: 'the services that SVCB and HTTPS lead to should be there, and older servers leave them out',
      kind: 'optional',
      covers: (part, { query }) =>
        part.field === 'additionals' &&
        (query.type === TYPE.SVCB || query.type === TYPE.HTTPS) &&
        // A service from a wildcard may come with the proof that there is nothing closer.
        (covered(part.record) === query.type || isProof(part.record)),
    },
    {
      name: 'glue does not fit',
      rfc: 'RFC 9471 3, RFC 2181 9',
      reason: 'which part of the glue is sent when not all fits is open; TC is the newer way to say so',
      kind: 'optional',
      covers: (part, pair) =>
        (part.field === 'tc' || (part.field === 'additionals' && isAddress(part.record))) && tooBigTogether(pair),
    },
    {
      name: 'truncated answer',
      rfc: 'RFC 2181 9',
      reason: 'what a truncated answer still carries is ignored by the client, which asks again over TCP',
      kind: 'optional',
      covers: (part, { a, b }) => 'record' in part && isMessage(a) && isMessage(b) && a.tc && b.tc,
    },
    {
      name: 'compression differs',
      rfc: 'RFC 1035 4.1.4, RFC 4343 4.1',
      reason:
        'an answer that fits only when compressed may be truncated by who compresses less, as of names in another case',
      kind: 'choice',
      covers: (part, pair) =>
        ('record' in part || part.field === 'tc') &&
        pair.query.transport === 'udp' &&
        eitherWay(
          pair,
          (one, other) => one.tc && !other.tc && uncompressedBytes(other) > Math.min(pair.query.udpBytes, UDP_BYTES),
        ),
    },
    {
      name: 'more NSEC3 than the proof needs',
      rfc: 'RFC 5155 7.2.3 to 7.2.5',
      reason: 'the NSEC3 of a name proves its types; that of the closest encloser beside it adds nothing',
      kind: 'optional',
      covers: (part, pair) =>
        part.field === 'authorities' &&
        covered(part.record) === TYPE.NSEC3 &&
        eitherWay(pair, (less, more) => {
          const [few, many] = [less, more].map((side) => side.authorities.filter((r) => covered(r) === TYPE.NSEC3))
          return few.length > 0 && few.every((r) => many.some((other) => recordLine(other) === recordLine(r)))
        }),
    },
    {
      name: 'encloser that opt-out left without NSEC3',
      rfc: 'RFC 5155 7.2.1',
      reason:
        'the proof begins at the closest encloser that has an NSEC3; a server that takes the closest one proves nothing',
      kind: 'choice',
      covers: (part, pair) =>
        eitherWay(pair, (one, other) => {
          if (!hasOptOut(one)) return false
          if (isBareDenial(other)) return part.field === 'aa' || part.field === 'authorities'
          return hasOptOut(other) && part.field === 'authorities' && covered(part.record) === TYPE.NSEC3
        }),
    },
    {
      name: 'wildcard behind a DNAME',
      rfc: 'RFC 4035 3.1.3.4, RFC 6672 5.3.4',
      reason: 'the proof is about the substituted name; a server that proves another name there convinces nobody',
      kind: 'choice',
      covers: (part, { a, b }) =>
        part.field === 'authorities' &&
        isProof(part.record) &&
        [a, b].every((side) => isMessage(side) && side.answers.some(({ type }) => type === TYPE.DNAME)),
    },
    {
      name: 'below the owner of an NSEC3',
      rfc: 'RFC 5155 7.2.8',
      reason: 'hashed owner names do not exist for questions; a server that thinks they do proves it from there',
      kind: 'choice',
      covers: (part, { query }) =>
        ('record' in part || part.field === 'rcode' || part.field === 'tc') && /[0-9A-V]{32}\./i.test(query.label),
    },
    {
      name: 'wildcard that is an empty non-terminal',
      rfc: 'RFC 4035 3.1.3.4, RFC 4592 2.2.2',
      reason: 'one NSEC denies the name and one shows that the wildcard exists; some leave out the second',
      kind: 'choice',
      covers: (part, pair) =>
        part.field === 'authorities' &&
        covered(part.record) === TYPE.NSEC &&
        eitherWay(pair, (less, more) => {
          const [few, many] = [less, more].map((side) => side.authorities.filter((r) => r.type === TYPE.NSEC))
          const isOneMore = few.length > 0 && many.length === few.length + 1
          return isOneMore && less.rcode === RCODE.NOERROR && few.every((record) => contains(many, record))
        }),
    },
    {
      name: 'names of zero bytes in the canonical order',
      rfc: 'RFC 4034 6.1',
      reason: 'a label of a zero byte sorts before the wildcard, and names below it do, too; some look no deeper',
      kind: 'choice',
      covers: (part, { a, b }) =>
        part.field === 'authorities' &&
        covered(part.record) === TYPE.NSEC &&
        [a, b].some(
          (side) => isMessage(side) && side.authorities.some((r) => r.type === TYPE.NSEC && hasZeroLabel(r.name)),
        ),
    },
    {
      name: 'aliases without what they lead to',
      rfc: 'RFC 2181 9, RFC 2308 2.2',
      reason: 'a chain, or the SOA behind it, that does not fit is truncated; some cut it off and do not say so',
      kind: 'choice',
      covers: (part, pair) =>
        ('record' in part || part.field === 'tc') &&
        pair.query.transport === 'udp' &&
        eitherWay(
          pair,
          (one, other) =>
            one.tc &&
            !other.tc &&
            lastAlias(other) !== undefined &&
            other.answers.every(isAlias) &&
            !other.authorities.some((r) => r.type === TYPE.SOA),
        ),
    },
    {
      name: 'DS of an apex behind an alias',
      rfc: 'RFC 4035 3.1.4.1',
      reason: 'the parent has the DS of a zone, also at the end of an alias; some look into the zone of the alias',
      kind: 'choice',
      covers: (part, pair) =>
        pair.query.type === TYPE.DS &&
        ('record' in part || ['rcode', 'aa', 'tc'].includes(part.field)) &&
        eitherWay(pair, (one) => {
          const last = lastAlias(one)
          return last !== undefined && origins.some((origin) => equalNames(origin, last.rdata))
        }),
    },
    {
      name: 'CD in the answer',
      rfc: 'RFC 4035 3 and 3.1.6',
      reason: 'section 3 wants CD copied, section 3.1.6 would have an authoritative server clear it',
      kind: 'optional',
      covers: (part, { query }) => part.field === 'cd' && (query.bytes[3] & 0x10) !== 0,
    },
    {
      name: 'AD copied when truncated',
      rfc: 'RFC 6840 5.7',
      reason: 'AD in a query asks for AD in the answer; an authoritative server has nothing to say with it',
      kind: 'choice',
      covers: (part, { query, a, b }) =>
        part.field === 'ad' && (query.bytes[3] & 0x20) !== 0 && isMessage(a) && isMessage(b) && (a.tc || b.tc),
    },
    {
      name: 'ANY answered in part',
      rfc: 'RFC 8482 4',
      reason: 'a server may answer ANY with any subset of the RRsets, or with a synthesized HINFO',
      kind: 'optional',
      covers: (part, { query, a, b }) =>
        query.type === TYPE.ANY && ('record' in part || part.field === 'tc') && sameOutcome(a, b),
    },
    {
      name: 'ANY does not follow aliases',
      rfc: 'RFC 1034 3.6.2, RFC 8482 4',
      reason: 'a query that matches the CNAME itself is answered with it; some still follow a synthesized one',
      kind: 'choice',
      covers: (part, { query, a, b }) =>
        query.type === TYPE.ANY &&
        !query.odd &&
        ('record' in part || ['rcode', 'aa', 'tc'].includes(part.field)) &&
        [a, b].every((side) => isMessage(side) && side.answers.length > 0),
    },
    {
      name: 'RRSIG answered in part',
      rfc: 'RFC 8482, by analogy',
      reason: 'RRSIG is a kind of ANY over signatures, to be answered in full or in part',
      kind: 'optional',
      covers: (part, { query, a, b }) =>
        query.type === TYPE.RRSIG &&
        (('record' in part && part.record.type === TYPE.RRSIG) || part.field === 'tc') &&
        sameOutcome(a, b),
    },
    {
      name: 'alias into another zone not followed',
      rfc: 'RFC 1034 4.3.2 step 3a, RFC 2181 5.4.1',
      reason: 'a resolver asks for the target itself anyway, so a server may stop where its zone ends',
      kind: 'choice',
      covers: (part, pair) =>
        ('record' in part || ['rcode', 'aa', 'tc'].includes(part.field)) &&
        eitherWay(pair, (shorter, longer) => {
          const last = lastAlias(shorter)
          const target = last === undefined ? undefined : zoneOf(last.rdata)
          return (
            last !== undefined &&
            target !== undefined &&
            !equalNames(target, zoneOf(last.name) ?? last.rdata) &&
            shorter.rcode === RCODE.NOERROR &&
            shorter.answers.every((record) => contains(longer.answers, record))
          )
        }),
    },
    {
      name: 'alias loop',
      rfc: 'RFC 1034 3.6.2',
      reason: 'there is no answer to give; where a server stops walking in circles, and with which code, helps nobody',
      kind: 'optional',
      covers: (part, pair) =>
        ('record' in part || ['rcode', 'tc', 'option'].includes(part.field)) &&
        // Of a loop that does not fit, only the code is left to see.
        eitherWay(pair, (one, other) => isLoop(one) || (one.tc && other.tc && one.rcode === RCODE.SERVFAIL)),
    },
    {
      name: 'alias chain cut off',
      rfc: 'RFC 1035 7.1',
      reason: 'a server bounds the work for one query, and the resolver goes on from where it stopped',
      kind: 'choice',
      covers: (part, pair) =>
        ('record' in part || ['rcode', 'tc', 'option'].includes(part.field)) &&
        eitherWay(pair, (one) => one.answers.filter((record) => record.type === TYPE.CNAME).length >= 5),
    },
    {
      name: 'extended error',
      rfc: 'RFC 8914 2',
      reason: 'an extended error explains an error to people; it is never required',
      kind: 'optional',
      covers: (part) => part.field === 'option' && part.code === 15,
    },
    {
      name: 'TTL 0 of the SOA',
      rfc: 'RFC 2308 3',
      reason: 'a denial of an SOA may be sent with TTL 0 so that it is not cached, as BIND does (zero-no-soa-ttl)',
      kind: 'choice',
      covers: (part, pair) =>
        pair.query.type === TYPE.SOA &&
        'record' in part &&
        part.field === 'authorities' &&
        covered(part.record) === TYPE.SOA &&
        eitherWay(pair, (one) => one.authorities.some((record) => record.type === TYPE.SOA && record.ttlSeconds === 0)),
    },
    {
      name: 'NSEC at a cut',
      rfc: 'RFC 4035 3.1.4.1, RFC 4034 4.1.2',
      reason:
        'the parent has an NSEC record at the cut; whether asking for it means the parent or the child is not said',
      kind: 'choice',
      covers: (part, pair) =>
        (pair.query.type === TYPE.NSEC || pair.query.type === TYPE.RRSIG) &&
        ('record' in part || part.field === 'aa' || part.field === 'tc') &&
        eitherWay(pair, (one, other) => !one.aa && (isReferral(one) || one.tc) && other.aa),
    },
    ...ODD_RULES,
  ]
  return rules
}

function sideWith(record: ResourceRecord, a: Pair['a'], b: Pair['b']): Message {
  const side = [a, b].find(
    (each) => isMessage(each) && (each.authorities.includes(record) || each.additionals.includes(record)),
  )
  return side as Message
}

/** The type a signature covers, or that of the record itself. */
function covered(record: ResourceRecord): number {
  return record.type === TYPE.RRSIG ? (record.rdata[0] << 8) | record.rdata[1] : record.type
}

function isAddress(record: ResourceRecord): boolean {
  return covered(record) === TYPE.A || covered(record) === TYPE.AAAA
}

function isProof(record: ResourceRecord): boolean {
  return covered(record) === TYPE.NSEC || covered(record) === TYPE.NSEC3
}

function isAlias(record: ResourceRecord): boolean {
  return covered(record) === TYPE.CNAME || covered(record) === TYPE.DNAME
}

function hasOptOut(message: Message): boolean {
  return message.authorities.some(({ type, rdata }) => type === TYPE.NSEC3 && (rdata[1] & 1) === 1)
}

/** NXDOMAIN and nothing else: the server found no proof to give. */
function isBareDenial({ rcode, aa, answers, authorities }: Message): boolean {
  return rcode === RCODE.NXDOMAIN && !aa && answers.length === 0 && authorities.length === 0
}

function hasZeroLabel(name: Uint8Array): boolean {
  for (let at = 0; name[at] !== 0; at += name[at] + 1) if (name[at] === 1 && name[at + 1] === 0) return true
  return false
}

function isReferral(message: Message): boolean {
  return (
    message.authorities.some((record) => record.type === TYPE.NS) &&
    !message.authorities.some((record) => record.type === TYPE.SOA)
  )
}

/** In-domain glue of a referral: without it the delegation cannot be followed (RFC 9471 section 2.1). */
function isGlue(record: ResourceRecord, a: Pair['a'], b: Pair['b']): boolean {
  const side = sideWith(record, a, b)
  return (
    !side.aa &&
    isReferral(side) &&
    side.authorities.some(
      (ns) => ns.type === TYPE.NS && isSubdomain(record.name, ns.name) && equalNames(ns.rdata, record.name),
    )
  )
}

function tooBigTogether({ query, a, b }: Pair): boolean {
  if (!isMessage(a) || !isMessage(b) || query.transport === 'tcp' || !isReferral(a)) return false
  // One more address would not have fit, even if compression differs a little.
  const additionals = [...a.additionals, ...b.additionals.filter((record) => !contains(a.additionals, record))]
  const most = Math.min(query.udpBytes, UDP_BYTES)
  const together = { ...a, additionals }
  if (encodeMessage(together).length + 64 > most) return true
  // Names in another letter case may be left uncompressed (RFC 4343 section 4.1).
  const isMixed = [...a.authorities, ...additionals].some(({ name }) => !Buffer.from(name).equals(lowerName(name)))
  return isMixed && uncompressedBytes(together) > most
}

function uncompressedBytes(message: Message): number {
  const records = [...message.answers, ...message.authorities, ...message.additionals]
  return records.reduce(
    (sum, { name, rdata }) => sum + name.length + 10 + rdata.length,
    encodeMessage({ ...message, answers: [], authorities: [], additionals: [] }).length,
  )
}

function contains(records: readonly ResourceRecord[], wanted: ResourceRecord): boolean {
  const line = recordLine(wanted)
  return records.some((record) => recordLine(record) === line)
}

/** Both found something, or both found nothing of the same kind. */
function sameOutcome(a: Pair['a'], b: Pair['b']): boolean {
  return (
    isMessage(a) &&
    isMessage(b) &&
    a.rcode === b.rcode &&
    a.aa === b.aa &&
    (a.answers.length > 0 === b.answers.length > 0 || a.tc || b.tc)
  )
}

function eitherWay({ a, b }: Pair, test: (one: Message, other: Message) => boolean): boolean {
  return isMessage(a) && isMessage(b) && (test(a, b) || test(b, a))
}

function lastAlias(message: Message): ResourceRecord | undefined {
  return message.answers.findLast((record) => record.type === TYPE.CNAME)
}

/** The last alias leads to a name already followed, or back below a DNAME already applied. */
function isLoop(message: Message): boolean {
  const last = lastAlias(message)
  return (
    last !== undefined &&
    inOrder(message) &&
    message.answers.some(
      ({ type, name }) =>
        (type === TYPE.CNAME && equalNames(name, last.rdata)) ||
        (type === TYPE.DNAME && last.rdata.length > name.length && isSubdomain(last.rdata, name)),
    )
  )
}
