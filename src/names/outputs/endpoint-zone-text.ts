// Endpoints as lines of a zone file, in the words of KubeSecondaryDNS: names relative to the zone, a TTL only where it is
// not that of the zone. And what has to be known of such a file when it is found.

import { formatName, isSubdomain } from '../../dns/name.ts'
import { readU32 } from '../../dns/rdata/field.ts'
import { formatRdata } from '../../dns/rdata/rdata.ts'
import { TYPE, typeName } from '../../dns/types.ts'
import { textSource } from '../../dns/zonefile/format.ts'
import { parseZoneFile } from '../../dns/zonefile/parse.ts'
import { endpointRecords } from '../endpoints/endpoint-records.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'

/** The serial and four times. */
const SOA_NUMBERS_BYTES = 20

/** Lines of the records of an endpoint; throws as `endpointRecords` does. */
export function formatEndpoint(owner: Uint8Array, endpoint: Endpoint, zone: Uint8Array, ttlSeconds: number): string {
  const name = relativeName(owner, zone)
  const lines = endpointRecords(endpoint, ttlSeconds).map(({ type, ttl, rdata }) => {
    const columns = [name, ...(ttl === ttlSeconds ? [] : [ttl]), 'IN', typeName(type), formatRdata(type, rdata)]
    return `${columns.join(' ')}\n`
  })
  return lines.join('')
}

/** `owner` is in the zone. */
function relativeName(owner: Uint8Array, zone: Uint8Array): string {
  if (owner.length === zone.length) return '@'
  return formatName(owner).slice(0, -formatName(zone).length - 1)
}

/** The first in the file, whatever else is wrong with it. */
export function readSerial(text: string, zone: Uint8Array): number | undefined {
  let serial: number | undefined
  parseZoneFile(
    textSource(text),
    { file: 'zone', origin: zone },
    {
      record(owner, ownerLength, type, _klass, _ttl, rdata, rdataLength) {
        if (type === TYPE.SOA && isSubdomain(zone, owner.subarray(0, ownerLength)))
          serial ??= readU32(rdata, rdataLength - SOA_NUMBERS_BYTES)
      },
    },
  )
  return serial
}

/** The order of records means nothing. */
export function hasSameLines(a: string, b: string): boolean {
  return a.length === b.length && sortedLines(a) === sortedLines(b)
}

function sortedLines(text: string): string {
  return text.split('\n').toSorted().join('\n')
}
