// Answers from elsewhere may exceed what the client takes by UDP: then it gets TC and asks again by TCP.

import { decodeMessage, encodeMessage } from '../dns/message.ts'

const WITHOUT_EDNS = 512

/** The response as it may be sent; undefined when it makes no sense at all. */
export function fitUdp(query: Uint8Array, response: Uint8Array, serverBytes: number): Uint8Array | undefined {
  if (response.length <= WITHOUT_EDNS) return response
  const asked = decodeMessage(query)
  const size = typeof asked === 'string' ? undefined : asked.edns?.udpBytes
  const limit = size === undefined ? WITHOUT_EDNS : Math.max(WITHOUT_EDNS, Math.min(size, serverBytes))
  if (response.length <= limit) return response
  const message = decodeMessage(response)
  if (typeof message === 'string') return undefined
  return encodeMessage(message, limit)
}
