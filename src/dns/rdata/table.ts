// The family of record types: one line per type. A type that is not here is opaque bytes (RFC 3597).

import { TYPE } from '../types.ts'
import { a } from './a.ts'
import { aaaa } from './aaaa.ts'
import { afsdb } from './afsdb.ts'
import { apl } from './apl.ts'
import { caa } from './caa.ts'
import { cert } from './cert.ts'
import { cname } from './cname.ts'
import { csync } from './csync.ts'
import { dhcid } from './dhcid.ts'
import { dname } from './dname.ts'
import { dnskey } from './dnskey.ts'
import { ds } from './ds.ts'
import { eui48 } from './eui48.ts'
import { eui64 } from './eui64.ts'
import type { RdataType } from './field.ts'
import { hinfo } from './hinfo.ts'
import { kx } from './kx.ts'
import { loc } from './loc.ts'
import { mx } from './mx.ts'
import { naptr } from './naptr.ts'
import { ns } from './ns.ts'
import { nsec } from './nsec.ts'
import { nsec3 } from './nsec3.ts'
import { nsec3param } from './nsec3param.ts'
import { openpgpkey } from './openpgpkey.ts'
import { opt } from './opt.ts'
import { ptr } from './ptr.ts'
import { rp } from './rp.ts'
import { rrsig } from './rrsig.ts'
import { soa } from './soa.ts'
import { srv } from './srv.ts'
import { sshfp } from './sshfp.ts'
import { svcb } from './svcb.ts'
import { tlsa } from './tlsa.ts'
import { txt } from './txt.ts'
import { uri } from './uri.ts'
import { zonemd } from './zonemd.ts'

export const RDATA_TYPES: ReadonlyMap<number, RdataType> = new Map([
  [TYPE.A, a],
  [TYPE.NS, ns],
  [TYPE.CNAME, cname],
  [TYPE.SOA, soa],
  [TYPE.PTR, ptr],
  [TYPE.HINFO, hinfo],
  [TYPE.MX, mx],
  [TYPE.TXT, txt],
  [TYPE.RP, rp],
  [TYPE.AFSDB, afsdb],
  [TYPE.AAAA, aaaa],
  [TYPE.LOC, loc],
  [TYPE.SRV, srv],
  [TYPE.NAPTR, naptr],
  [TYPE.KX, kx],
  [TYPE.CERT, cert],
  [TYPE.DNAME, dname],
  [TYPE.OPT, opt],
  [TYPE.APL, apl],
  [TYPE.DS, ds],
  [TYPE.SSHFP, sshfp],
  [TYPE.RRSIG, rrsig],
  [TYPE.NSEC, nsec],
  [TYPE.DNSKEY, dnskey],
  [TYPE.DHCID, dhcid],
  [TYPE.NSEC3, nsec3],
  [TYPE.NSEC3PARAM, nsec3param],
  [TYPE.TLSA, tlsa],
  [TYPE.SMIMEA, tlsa],
  [TYPE.CDS, ds],
  [TYPE.CDNSKEY, dnskey],
  [TYPE.OPENPGPKEY, openpgpkey],
  [TYPE.CSYNC, csync],
  [TYPE.ZONEMD, zonemd],
  [TYPE.SVCB, svcb],
  [TYPE.HTTPS, svcb],
  [TYPE.SPF, txt],
  [TYPE.EUI48, eui48],
  [TYPE.EUI64, eui64],
  [TYPE.URI, uri],
  [TYPE.CAA, caa],
])
