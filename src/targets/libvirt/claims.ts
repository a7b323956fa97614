// What only one domain of a hypervisor can have: MAC addresses, disks, and addresses on a network. Collected once from all
// domains, so that a thousand machines are compared with a thousand domains at once.

import { HoldfastError } from '../../lib/errors.ts'
import { recordedInterfaces } from './hardware-changes.ts'
import type { Domain } from './hypervisor.ts'
import type { PlacedInterface, Placement } from './placement.ts'
import { readAnyRecord } from './record-xml.ts'
import { canonicalAddress } from './subnet.ts'

export interface Claim {
  readonly kind: 'mac' | 'address' | 'volume'
  readonly value: string
  /** Two networks may have the same addresses. */
  readonly network?: string
}

/** Names of domains, by what they claim. */
export type Claimed = ReadonlyMap<string, ReadonlySet<string>>

export function claimKey({ kind, network = '', value }: Claim): string {
  return `${kind} ${network} ${value}`
}

export function claimsOf({ interfaces, disks: { root, data, seed } }: Placement): readonly Claim[] {
  return [
    ...interfaces.map(({ mac }): Claim => ({ kind: 'mac', value: mac })),
    ...interfaces.map(addressClaim),
    ...[root, data, seed].flatMap((disk): Claim[] =>
      disk === undefined ? [] : [{ kind: 'volume', value: disk.path }],
    ),
  ]
}

/** What it only reads: whoever has that as a disk of its own writes to it, and spoils every disk made from it. */
export function baseOf({ disks: { root } }: Placement): Claim | undefined {
  return root.base && { kind: 'volume', value: root.base.path }
}

export function baseProblem(machine: string, { value }: Claim, by: string): HoldfastError {
  const message = `Cannot make the disk of "${machine}" from volume "${value}": ${by} has it as its own disk and writes to it; expected a base that nobody writes to`
  return new HoldfastError('VolumeInUse', message, { hint: 'copy it (virsh vol-clone), and name the copy' })
}

export function claimedBy(domains: readonly Domain[]): Claimed {
  const claimed = new Map<string, Set<string>>()
  for (const domain of domains) {
    for (const claim of domainClaims(domain)) {
      const key = claimKey(claim)
      claimed.set(key, (claimed.get(key) ?? new Set<string>()).add(domain.name))
    }
  }
  return claimed
}

/** `by`: who has it. */
export function claimProblem(machine: string, { kind, value }: Claim, by: string): HoldfastError {
  const message = (what: string) => `Cannot give "${machine}" the ${what}: ${by} has it; expected one of its own`
  if (kind === 'mac') return new HoldfastError('MacTaken', message(`MAC address ${value}`))
  if (kind === 'address') return new HoldfastError('AddressTaken', message(`address ${value}`))
  return new HoldfastError('VolumeInUse', message(`volume "${value}"`))
}

/** Addresses are known of machines of ours alone. */
function domainClaims(domain: Domain): readonly Claim[] {
  const facts = [domain.definition, ...(domain.live === undefined ? [] : [domain.live])]
  const record = readAnyRecord(domain)
  return [
    ...facts.flatMap(({ macs }) => macs.map((mac): Claim => ({ kind: 'mac', value: mac.toLowerCase() }))),
    ...facts.flatMap(({ disks }) => disks.map((path): Claim => ({ kind: 'volume', value: path }))),
    ...(record === undefined ? [] : recordedInterfaces(record.hardware).map(addressClaim)),
  ]
}

function addressClaim({ attach, ip }: Pick<PlacedInterface, 'attach' | 'ip'>): Claim {
  const network = 'network' in attach ? `network ${attach.network}` : `interface ${attach.macvtap}`
  return { kind: 'address', value: canonicalAddress(ip), network }
}
