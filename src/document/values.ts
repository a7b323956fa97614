// The kinds of values our files have: how each is written, what is wanted where it is not, and what it becomes. A title
// is for the reference page and for editors.

import { z } from 'zod'
import { parseDuration, parseEndpoint } from './notation.ts'

const LONGEST_QUOTE = 100

/** A word of the file for a message, which has one line. */
export function quote(word: string): string {
  return JSON.stringify(word.length > LONGEST_QUOTE ? `${word.slice(0, LONGEST_QUOTE)}…` : word)
}

/** A map of exactly these keys. */
export function map<Shape extends z.ZodRawShape>(shape: Shape, wanted = 'a map') {
  return z.strictObject(shape, { error: ({ code }) => (code === 'invalid_type' ? wanted : undefined) })
}

/** A text that `parse` takes; for any other, `wanted` is told. */
export function written<T>(parse: (text: string) => T | undefined, title: string, what: string, wanted: string) {
  return z
    .string({ error: wanted })
    .meta({ title })
    .transform((text, context): T => {
      const value = parse(text)
      if (value !== undefined) return value
      context.addIssue({ code: 'custom', message: `${quote(text)} is not ${what}; expected ${wanted}` })
      return z.NEVER
    })
}

/** May be left out, here and wherever else it can stand; `standard` holds where it stands nowhere. */
export function preset<T extends z.ZodType>(schema: T, standard: z.input<T>) {
  return schema.optional().meta({ default: standard })
}

/** Not repeated in the message when it has a user in it, as a password may follow. */
export const endpoint = z
  .string({ error: 'an address such as https://10.0.0.1:2379' })
  .meta({ title: 'address' })
  .transform((text, context): string => {
    const value = parseEndpoint(text)
    if (value !== undefined) return value
    const message = text.includes('@')
      ? 'the endpoint has a user in it; expected "username" and "password" beside "endpoints"'
      : `${quote(text)} is not an endpoint; expected an address with its port, such as https://10.0.0.1:2379`
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })

export function text(wanted: string) {
  return z.string({ error: wanted }).min(1, { error: wanted })
}

/** A text that becomes part of a line of another file: a line break in it would begin a setting of its own there. */
export function line(expected: string) {
  const error = ({ input }: { readonly input?: unknown }) =>
    `${quote(String(input))} has a line break or another control character in it; expected ${expected}`
  return text(expected).refine(isOneLine, { error })
}

export function isOneLine(words: string): boolean {
  return !/\p{Cc}/u.test(words)
}

export const path = text('a path').meta({ title: 'path' })

export function list<T extends z.ZodType>(item: T, wanted: string) {
  return z.array(item, { error: wanted }).min(1, { error: wanted })
}

export const flag = z.boolean({ error: 'true or false' })

export function number(min: number, max: number) {
  const error = `a number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}

const DURATION_PATTERN = '^(0|([0-9.]+(ns|us|µs|ms|s|m|h))+)$'

/** What a TTL can be, RFC 2181 section 8. */
const LONGEST = '2147483647s'

interface Limits {
  /** As they are written. */
  readonly from?: string
  readonly to?: string
}

/** `1h30m`, `500ms`, or a number of seconds; in milliseconds. */
export function duration({ from = '0s', to }: Limits = {}) {
  const wanted = 'a duration such as 30s, 500ms or 1h30m'
  const range = to === undefined ? `at least ${from}` : `${from} to ${to}`
  const least = parseDuration(from) ?? 0
  const most = parseDuration(to ?? LONGEST) ?? Infinity
  return z
    .union([z.string().meta({ pattern: DURATION_PATTERN }), z.number().min(0)], { error: wanted })
    .meta({ title: from === '0s' && to === undefined ? 'duration' : `duration, ${range}` })
    .transform((value, context): number => {
      const ms = typeof value === 'number' ? value * 1000 : parseDuration(value)
      if (ms !== undefined && ms >= least && ms <= most) return ms
      const message =
        ms === undefined
          ? `${quote(String(value))} is not a duration; expected ${wanted}`
          : `${value} is out of range; expected ${range}`
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    })
}

/** A duration in whole seconds. */
export function ttl(limits: Limits = {}) {
  return duration(limits).transform((ms) => Math.floor(ms / 1000))
}

/** The keys of a secret's map; a map with others may have the secret itself as one of them. */
export const SECRET_PLACES = 'file env'

/** A text, or where to find it: { file: PATH } or { env: VARIABLE }. */
export const secret = z.union(
  [
    text('text, { file: PATH } or { env: VARIABLE }'),
    map({
      file: path.describe('Path of a file that holds it; a line break at its end is not part of it.').optional(),
      env: text('the name of a variable').describe('Name of an environment variable that holds it.').optional(),
    }).refine(({ file, env }) => (file === undefined) !== (env === undefined), {
      error: 'a secret is in one place; expected either "file" or "env"',
    }),
  ],
  { error: 'text, { file: PATH } or { env: VARIABLE }' },
)
export type SecretPlace = z.output<typeof secret>

/** Text, or the file it is in. What is secret in PEM is a secret. */
export const pem = z.union(
  [
    text('PEM text or { file: PATH }').meta({ title: 'PEM' }),
    map({ file: path.describe('Path of a PEM file.') }, 'PEM text or { file: PATH }'),
  ],
  { error: 'PEM text or { file: PATH }' },
)
export type PemPlace = z.output<typeof pem>

/** As `chmod` takes it, in quotes: YAML reads 0644 as the number 644. */
export function permissions(wanted: string) {
  const parse = (digits: string) => (/^0?[0-7]{3}$/u.test(digits) ? Number.parseInt(digits, 8) : undefined)
  return written(parse, 'mode', 'a mode', `a mode in quotes, such as ${wanted}`)
}
