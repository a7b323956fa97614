// What ExternalDNS and a webhook provider tell each other: endpoints and changes as JSON, as Go writes them, where what is
// empty may be missing or null.

import { z } from 'zod'
import { HoldfastError, messageOf } from '../../../lib/errors.ts'
import type { Changes, Endpoint } from '../../endpoints/endpoint.ts'

const text = z
  .string()
  .nullish()
  .transform((given) => given ?? '')
const endpoint = z
  .object({
    dnsName: z.string(),
    recordType: z.string(),
    targets: z.array(z.string()).nullish(),
    recordTTL: z.int().nullish(),
    setIdentifier: text,
    labels: z.record(z.string(), z.string()).nullish(),
    providerSpecific: z.array(z.object({ name: text, value: text })).nullish(),
  })
  .transform(
    (given): Endpoint => ({
      dnsName: given.dnsName,
      recordType: given.recordType,
      targets: given.targets ?? [],
      ...(given.recordTTL && { recordTTL: given.recordTTL }),
      ...(given.setIdentifier !== '' && { setIdentifier: given.setIdentifier }),
      labels: given.labels ?? {},
      providerSpecific: given.providerSpecific ?? [],
    }),
  )
const endpoints = z
  .array(endpoint)
  .nullish()
  .transform((given) => given ?? [])
const changes = z
  .object({ create: endpoints, updateOld: endpoints, updateNew: endpoints, delete: endpoints })
  .refine(({ updateOld, updateNew }) => updateOld.length === updateNew.length, {
    error: 'expected as many endpoints in updateOld as in updateNew',
  })

export function parseEndpoints(body: Uint8Array): Endpoint[] {
  return parse(body, endpoints)
}

export function parseChanges(body: Uint8Array): Changes {
  return parse(body, changes)
}

export function formatEndpoints(list: readonly Endpoint[]): string {
  return JSON.stringify(list)
}

function parse<T>(body: Uint8Array, schema: z.ZodType<T>): T {
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(body).toString())
  } catch (thrown) {
    throw unreadable(`it is not JSON (${messageOf(thrown)})`)
  }
  const { success, data, error } = schema.safeParse(json)
  if (success) return data
  const [{ path, message }] = error.issues
  const place = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
  throw unreadable(`${place === '' ? 'it' : place.replace(/^\./u, '')}: ${message}`)
}

function unreadable(reason: string): HoldfastError {
  return new HoldfastError('WebhookRequest', `Cannot read the request: ${reason.replaceAll(/\s+/gu, ' ')}`)
}
