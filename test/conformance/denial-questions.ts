// What is asked of the zones of denial-zones.ts, and how the answers of a server are gathered.

import { decodeMessage, type Message } from '../../src/dns/message.ts'
import { RCODE } from '../../src/dns/types.ts'
import { exchangeUdp } from '../support/dns-client.ts'
import type { Security } from '../support/validators.ts'
import type { DenialZone } from './denial-zones.ts'
import { opt, query } from './queries.ts'

const TYPES = ['A', 'TXT', 'DS']
/** A validator may have to wait for a busy machine; it is not asked again while it does. */
const PATIENT = { window: 32, timeoutMs: 30_000, attempts: 2 }

export interface DenialQuestion {
  readonly zone: DenialZone
  readonly name: string
  readonly type: string
}

export function denialQuestions(zones: readonly DenialZone[]): DenialQuestion[] {
  return (
    zones
      .flatMap((zone) => zone.names.flatMap((name) => TYPES.map((type) => ({ zone, name, type }))))
      // The parent has the DS of a zone, and there is none here.
      .filter(({ zone, name, type }) => type !== 'DS' || name !== zone.origin)
  )
}

export async function askDenials(
  port: number,
  questions: readonly DenialQuestion[],
  flags: { rd: boolean },
): Promise<(Message | undefined)[]> {
  const packets = questions.map(({ name, type }) => query(name, type, { ...flags, edns: opt({ do: true }) }).bytes)
  const answers = await exchangeUdp(port, packets, PATIENT)
  return answers.map((bytes) => {
    const message = bytes === undefined ? undefined : decodeMessage(bytes)
    return typeof message === 'object' ? message : undefined
  })
}

/** Which questions the zones themselves have the answer to: the others get a referral. */
export async function areAnswers(port: number, questions: readonly DenialQuestion[]): Promise<boolean[]> {
  return (await askDenials(port, questions, { rd: false })).map((message) => message?.aa === true)
}

/** What a resolver thinks of its answer. */
export function securityOf(message: Message | undefined): Security {
  if (message === undefined || (message.rcode !== RCODE.NOERROR && message.rcode !== RCODE.NXDOMAIN)) return 'bogus'
  return message.ad ? 'secure' : 'insecure'
}

export const denialLabel = ({ name, type }: DenialQuestion): string => `${name} ${type}`
