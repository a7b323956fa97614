// What a source of names hands over when it adds names to a zone instead of bringing a whole one: records, name by name.

/** One record of a name. */
export interface SourceRecord {
  readonly type: number
  readonly ttl: number
  readonly rdata: Uint8Array
  /** Unix seconds: the TTL never exceeds what is left until then (etcd leases). */
  readonly expiresAt?: number
}

/** What a source adds to one zone. */
export interface ZonePart {
  /** All records the source has for a name (wire form); an empty list takes the name away. */
  set(owner: Uint8Array, records: readonly SourceRecord[]): void
  /**
   * Publishes everything set since the last commit as one change. `version` is the same for the same content, where the
   * source can tell; otherwise the serial stands for it.
   */
  commit(serial: number, version?: string): void
  /** Whether no source before this one has the zone. */
  isFirst(): boolean
}
