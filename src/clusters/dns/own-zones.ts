// The zones a stack's name servers have of the stack itself: its machines by name, and by address. Generated texts, the
// same on every server, serial included: it is one more than that of the newest text there is, unless nothing differs.

import { isIPv6 } from 'node:net'
import { reverseName } from './reverse-name.ts'

export interface OwnZones {
  /** `lab.test`, without the final dot. */
  readonly domain: string
  readonly machines: readonly { readonly name: string; readonly address: string }[]
  /** Names of the machines that serve the zones. */
  readonly servers: readonly string[]
  /** First labels of zones below the domain that are served beside it. */
  readonly delegated: readonly string[]
}

const TTL_SECONDS = 60
const SOA_TIMERS = `7200 1800 1209600 ${TTL_SECONDS}`
const FIRST_SERIAL = 1
/** RFC 1982: after the largest serial comes 1; some take 0 for none. */
const LAST_SERIAL = 2 ** 32 - 1

export type ZoneText = (serial: number) => string

export function forwardZone(zones: OwnZones): ZoneText {
  const { domain, machines, servers, delegated } = zones
  return zoneText(zones, `${domain}.`, [
    ...delegated.flatMap((label) => servers.map((server) => `${label}.${domain}. NS ${server}.${domain}.`)),
    ...machines.map(({ name, address }) => `${name}.${domain}. ${isIPv6(address) ? 'AAAA' : 'A'} ${address}`),
  ])
}

/** By origin, without the final dot: the zone of the /24 or /64 that an address is in. */
export function reverseZones(zones: OwnZones): ReadonlyMap<string, ZoneText> {
  const records = zones.machines.map(({ name, address }) => {
    const owner = reverseName(address)
    const labels = owner.split('.')
    const origin = labels.slice(isIPv6(address) ? 16 : 1).join('.')
    return { origin, line: `${owner}. PTR ${name}.${zones.domain}.` }
  })
  return new Map(
    [...Map.groupBy(records, ({ origin }) => origin)].map(([origin, found]) => [
      origin,
      zoneText(
        zones,
        `${origin}.`,
        found.map(({ line }) => line),
      ),
    ]),
  )
}

/** The text with its serial; `existing` are those that servers have now. */
export function withSerial(text: ZoneText, existing: readonly string[]): string {
  const serials = existing.map(serialOf).filter((serial) => serial !== undefined)
  if (serials.length === 0) return text(FIRST_SERIAL)
  const newest = Math.max(...serials)
  const same = text(newest)
  const isSame = existing.every((other) => serialOf(other) !== newest || other === same)
  return isSame ? same : text(newest === LAST_SERIAL ? FIRST_SERIAL : newest + 1)
}

function zoneText({ domain, servers }: OwnZones, origin: string, records: readonly string[]): ZoneText {
  const [first] = servers
  return (serial) =>
    [
      '; Made from the stack file; changes here are overwritten.',
      `$TTL ${TTL_SECONDS}`,
      `${origin} SOA ${first}.${domain}. hostmaster.${domain}. ${serial} ${SOA_TIMERS}`,
      ...servers.map((server) => `${origin} NS ${server}.${domain}.`),
      ...records,
      '',
    ].join('\n')
}

function serialOf(text: string): number | undefined {
  const [, serial] = / SOA \S+ \S+ (\d+) /u.exec(text) ?? []
  return serial === undefined ? undefined : Number(serial)
}
