// `holdfast record set`: replaces the records of one type at a name, and leaves the others alone.

import { HoldfastError } from '../lib/errors.ts'
import { command } from './command.ts'
import { EXIT } from './exit-code.ts'
import { printRecordChanges } from './record-changes.ts'
import { type Fields, RECORD_TYPES, type RecordType } from './record-entry.ts'
import { planSet } from './record-plan.ts'
import { RECORD_FLAGS, withRecordStore } from './record-store.ts'
import { readValue } from './record-value.ts'
import { parseOrigin } from './zone-store.ts'

const LARGEST = { ttl: 0x7fff_ffff, priority: 0xffff, weight: 0xffff, port: 0xffff, targetstrip: 127 } as const

export const recordSetCommand = command({
  name: 'record set',
  summary: 'Set the SkyDNS records of a name and type',
  usage: 'NAME TYPE VALUE...',
  positionals: ['NAME', 'TYPE', 'VALUE...'],
  options: {
    ttl: { value: 'SECONDS', summary: 'time to live; the server has a default' },
    priority: { value: 'N', summary: 'of SRV and MX records' },
    weight: { value: 'N', summary: 'of SRV records' },
    port: { value: 'N', summary: 'of SRV records; with addresses, the name has SRV records too' },
    group: { value: 'NAME', summary: 'records of different groups are not given in one answer' },
    text: { value: 'TEXT', summary: 'a TXT record beside the host' },
    mail: { summary: 'the host takes mail, as with MX' },
    targetstrip: { value: 'N', summary: 'labels of the key that are not part of the name; 1 unless given' },
    'dry-run': { summary: 'show what would change and store nothing' },
    json: { summary: 'print one JSON object' },
    ...RECORD_FLAGS,
  },
  async run({ positionals: [nameText, typeText, ...valueTexts], options }, io) {
    const name = parseOrigin(nameText)
    const type = readType(typeText)
    const settings = readSettings(options)
    const values = valueTexts.map((value) => readValue(type, value, settings))
    return withRecordStore(options, io, async (store) => {
      const seen = await store.of(name)
      const changes = planSet(store, seen, type, values)
      const dryRun = options['dry-run']
      const revision = dryRun || changes.length === 0 ? undefined : await store.apply(seen, changes)
      printRecordChanges(store, { name, changes, revision, json: options.json, dryRun }, io)
      return EXIT.done
    })
  },
})

export function readType(text: string): RecordType {
  const type = RECORD_TYPES.find((known) => known === text.toUpperCase())
  if (type !== undefined) return type
  throw new HoldfastError(
    'Usage',
    `Cannot store records of type "${text}": SkyDNS has no such; expected one of ${RECORD_TYPES.join(' ')}`,
  )
}

interface SettingFlags {
  readonly ttl: string | undefined
  readonly priority: string | undefined
  readonly weight: string | undefined
  readonly port: string | undefined
  readonly targetstrip: string | undefined
  readonly group: string | undefined
  readonly text: string | undefined
  readonly mail: boolean
}

function readSettings(flags: SettingFlags): Fields {
  const numbers = Object.entries(LARGEST).flatMap(([name, largest]) => {
    const text = flags[name as keyof typeof LARGEST]
    if (text === undefined) return []
    if (/^\d{1,10}$/u.test(text) && Number(text) <= largest) return [[name, Number(text)] as const]
    throw new HoldfastError('Usage', `Cannot read "${text}" as --${name}: expected a number up to ${largest}`)
  })
  const { group, text, mail } = flags
  return {
    ...Object.fromEntries(numbers),
    ...(group !== undefined && { group }),
    ...(text !== undefined && { text }),
    ...(mail && { mail }),
  }
}
