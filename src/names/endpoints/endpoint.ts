// A name with its targets, as ExternalDNS calls what its sources want and its providers have. Names are as people write
// them, without the final dot; types and targets are text.

export interface Endpoint {
  readonly dnsName: string
  /** A, AAAA, CNAME, TXT, SRV, NS, PTR, MX, NAPTR. */
  readonly recordType: string
  readonly targets: readonly string[]
  /** Seconds; undefined or 0: nobody said. */
  readonly recordTTL?: number
  /** Tells endpoints of one name and type apart, where a provider can. */
  readonly setIdentifier?: string
  /** What is known of it beside: `owner`, `resource`, and what a provider needs to find it again. */
  readonly labels: Readonly<Record<string, string>>
  readonly providerSpecific: readonly ProviderProperty[]
}

export interface ProviderProperty {
  readonly name: string
  readonly value: string
}

/** Keys of labels, as ExternalDNS spells them. */
export const LABEL = { owner: 'owner', resource: 'resource', ownedRecord: 'ownedRecord' } as const

/** What has to be done with endpoints; `updateOld[i]` becomes `updateNew[i]`. */
export interface Changes {
  readonly create: readonly Endpoint[]
  readonly updateOld: readonly Endpoint[]
  readonly updateNew: readonly Endpoint[]
  readonly delete: readonly Endpoint[]
}
