// The family of record types: one line per type. A type that is not here is opaque bytes (RFC 3597).

import { TYPE } from '../types.ts'
import { a } from './a.ts'
import { a6 } from './a6.ts'
import { aaaa } from './aaaa.ts'
import { afsdb } from './afsdb.ts'
import { amtrelay } from './amtrelay.ts'
import { apl } from './apl.ts'
import { atma } from './atma.ts'
import { caa } from './caa.ts'
import { cert } from './cert.ts'
import { cname } from './cname.ts'
import { csync } from './csync.ts'
import { dhcid } from './dhcid.ts'
import { dname } from './dname.ts'
import { dnskey } from './dnskey.ts'
import { doa } from './doa.ts'
import { ds } from './ds.ts'
import { dsync } from './dsync.ts'
import { eid } from './eid.ts'
import { eui48 } from './eui48.ts'
import { eui64 } from './eui64.ts'
import type { RdataType } from './field.ts'
import { gpos } from './gpos.ts'
import { hhit } from './hhit.ts'
import { hinfo } from './hinfo.ts'
import { hip } from './hip.ts'
import { ipn } from './ipn.ts'
import { ipseckey } from './ipseckey.ts'
import { isdn } from './isdn.ts'
import { key } from './key.ts'
import { kx } from './kx.ts'
import { l32 } from './l32.ts'
import { l64 } from './l64.ts'
import { loc } from './loc.ts'
import { lp } from './lp.ts'
import { mb } from './mb.ts'
import { minfo } from './minfo.ts'
import { mx } from './mx.ts'
import { naptr } from './naptr.ts'
import { ns } from './ns.ts'
import { nsapPtr } from './nsap-ptr.ts'
import { nsap } from './nsap.ts'
import { nsec } from './nsec.ts'
import { nsec3 } from './nsec3.ts'
import { nsec3param } from './nsec3param.ts'
import { nxt } from './nxt.ts'
import { openpgpkey } from './openpgpkey.ts'
import { opt } from './opt.ts'
import { ptr } from './ptr.ts'
import { px } from './px.ts'
import { rp } from './rp.ts'
import { rrsig } from './rrsig.ts'
import { rt } from './rt.ts'
import { sink } from './sink.ts'
import { soa } from './soa.ts'
import { srv } from './srv.ts'
import { sshfp } from './sshfp.ts'
import { svcb } from './svcb.ts'
import { talink } from './talink.ts'
import { tlsa } from './tlsa.ts'
import { txt } from './txt.ts'
import { uri } from './uri.ts'
import { wks } from './wks.ts'
import { x25 } from './x25.ts'
import { zonemd } from './zonemd.ts'

export const RDATA_TYPES: ReadonlyMap<number, RdataType> = new Map([
  [TYPE.A, a],
  [TYPE.NS, ns],
  [TYPE.MD, mb],
  [TYPE.MF, mb],
  [TYPE.CNAME, cname],
  [TYPE.SOA, soa],
  [TYPE.MB, mb],
  [TYPE.MG, mb],
  [TYPE.MR, mb],
  [TYPE.WKS, wks],
  [TYPE.PTR, ptr],
  [TYPE.HINFO, hinfo],
  [TYPE.MINFO, minfo],
  [TYPE.MX, mx],
  [TYPE.TXT, txt],
  [TYPE.RP, rp],
  [TYPE.AFSDB, afsdb],
  [TYPE.X25, x25],
  [TYPE.ISDN, isdn],
  [TYPE.RT, rt],
  [TYPE.NSAP, nsap],
  [TYPE['NSAP-PTR'], nsapPtr],
  [TYPE.SIG, rrsig],
  [TYPE.KEY, key],
  [TYPE.PX, px],
  [TYPE.GPOS, gpos],
  [TYPE.AAAA, aaaa],
  [TYPE.LOC, loc],
  [TYPE.NXT, nxt],
  [TYPE.EID, eid],
  [TYPE.NIMLOC, eid],
  [TYPE.SRV, srv],
  [TYPE.ATMA, atma],
  [TYPE.NAPTR, naptr],
  [TYPE.KX, kx],
  [TYPE.CERT, cert],
  [TYPE.A6, a6],
  [TYPE.DNAME, dname],
  [TYPE.SINK, sink],
  [TYPE.OPT, opt],
  [TYPE.APL, apl],
  [TYPE.DS, ds],
  [TYPE.SSHFP, sshfp],
  [TYPE.IPSECKEY, ipseckey],
  [TYPE.RRSIG, rrsig],
  [TYPE.NSEC, nsec],
  [TYPE.DNSKEY, dnskey],
  [TYPE.DHCID, dhcid],
  [TYPE.NSEC3, nsec3],
  [TYPE.NSEC3PARAM, nsec3param],
  [TYPE.TLSA, tlsa],
  [TYPE.SMIMEA, tlsa],
  [TYPE.HIP, hip],
  [TYPE.NINFO, txt],
  [TYPE.RKEY, key],
  [TYPE.TALINK, talink],
  [TYPE.CDS, ds],
  [TYPE.CDNSKEY, dnskey],
  [TYPE.OPENPGPKEY, openpgpkey],
  [TYPE.CSYNC, csync],
  [TYPE.ZONEMD, zonemd],
  [TYPE.SVCB, svcb],
  [TYPE.HTTPS, svcb],
  [TYPE.DSYNC, dsync],
  [TYPE.HHIT, hhit],
  [TYPE.BRID, hhit],
  [TYPE.SPF, txt],
  [TYPE.NID, l64],
  [TYPE.L32, l32],
  [TYPE.L64, l64],
  [TYPE.LP, lp],
  [TYPE.EUI48, eui48],
  [TYPE.EUI64, eui64],
  [TYPE.URI, uri],
  [TYPE.CAA, caa],
  [TYPE.AVC, txt],
  [TYPE.DOA, doa],
  [TYPE.AMTRELAY, amtrelay],
  [TYPE.RESINFO, txt],
  [TYPE.WALLET, txt],
  [TYPE.CLA, txt],
  [TYPE.IPN, ipn],
  [TYPE.TA, ds],
  [TYPE.DLV, ds],
])
