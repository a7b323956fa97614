// A zone as people keep them, and the names to ask for.

export function zoneText(origin: string, serial: number): string {
  const n = Number(/\d+/u.exec(origin)?.[0])
  return `$TTL 3600
@ SOA ns1 hostmaster ${serial} 7200 3600 1209600 300
@ NS ns1
@ NS ns2.elsewhere.example.
@ MX 10 mail
@ MX 20 mail.elsewhere.example.
@ TXT "v=spf1 mx -all" "second ${n}"
@ CAA 0 issue "ca.example"
ns1 A 192.0.2.53
ns1 AAAA 2001:db8::53
mail A 192.0.2.${n + 1}
www 60 A 198.51.100.${serial}
www 60 A 198.51.100.${n + 10}
www AAAA 2001:db8::${n}:${serial}
alias CNAME www
again CNAME alias
away CNAME www.elsewhere.example.
dangling CNAME missing
_sip._tcp SRV 10 60 5060 www
_sip._tcp SRV 20 0 5060 alias
*.wild A 203.0.113.${n}
*.wild TXT "any"
deep.empty.node A 192.0.2.99
child NS ns.child
child NS ns1
ns.child A 192.0.2.54
host${serial} A 192.0.2.77
`
}

export function zoneNames(origin: string): string[] {
  const labels =
    'ns1 mail www WwW alias again away dangling _sip._tcp a.wild a.b.wild wild deep.empty.node empty.node node child www.child ns.child host1 host2 missing www.www'
  return [origin, ...labels.split(' ').map((label) => `${label}.${origin}`)]
}
