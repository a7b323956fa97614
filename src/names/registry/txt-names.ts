// Where the TXT records stand that say to whom an endpoint belongs, as ExternalDNS names them: `a-web.example.org` for the
// A records of `web.example.org`, with a prefix or suffix around the first label, in which %{record_type} can stand.
// Before v0.12 names had no record type; such marks are read, but not written.

const TEMPLATE = '%{record_type}'
const RECORD_TYPES = ['A', 'AAAA', 'CNAME', 'NS', 'MX', 'PTR', 'SRV', 'NAPTR', 'TXT', 'DNAME', 'TLSA'] as const
const MAX_LABEL_BYTES = 63
const MAX_NAME_BYTES = 253
const USABLE_ASCII = /^[!-\-/-~]{1,63}(?:\.[!-\-/-~]{1,63})*$/u

export interface Affixes {
  readonly prefix: string
  readonly suffix: string
  /** Stands for the asterisk of wildcard names. Empty: the asterisk stays. */
  readonly wildcardReplacement: string
}

/** What a mark is for; without a type for all of a name. */
export interface Marked {
  readonly dnsName: string
  readonly recordType: string | undefined
}

/** What stands around the first label in the names of marks for one type, in lower case. */
interface Form {
  readonly recordType: string | undefined
  readonly prefix: string
  readonly suffix: string
  /** Over how many labels prefix, first label and suffix reach. */
  readonly suffixLabels: number
}

export class TxtNames {
  readonly #affixes: Affixes
  readonly #wildcardReplacement: string
  /** By type. */
  readonly #forms: ReadonlyMap<string, Form>
  readonly #typed: readonly Form[]
  readonly #untyped: Form

  constructor(affixes: Affixes) {
    this.#affixes = affixes
    this.#wildcardReplacement = affixes.wildcardReplacement.toLowerCase()
    this.#typed = RECORD_TYPES.map((recordType) => formOf(affixes, recordType))
    this.#forms = new Map(this.#typed.map((form) => [form.recordType ?? '', form]))
    this.#untyped = formOf(affixes, undefined)
  }

  /** The name of the mark for records of one type. */
  nameOf(dnsName: string, recordType: string): string {
    return this.#around(dnsName, this.#forms.get(recordType) ?? formOf(this.#affixes, recordType))
  }

  /** The name of a mark without a type. */
  oldNameOf(dnsName: string): string {
    return this.#around(dnsName, this.#untyped)
  }

  /** What a mark of this name can be for, in lower case; a name that can be read with a type is not read without. */
  marked(txtName: string): readonly Marked[] {
    const name = txtName.toLowerCase()
    const found: Marked[] = []
    for (const form of this.#typed) this.#addMarked(name, form, found)
    if (found.length === 0) this.#addMarked(name, this.#untyped, found)
    return found
  }

  #around(dnsName: string, { prefix, suffix }: Form): string {
    const end = firstLabelEnd(dnsName)
    const first = dnsName.slice(0, end)
    const label = first === '*' && this.#wildcardReplacement !== '' ? this.#wildcardReplacement : first
    return `${prefix}${label}${suffix}${dnsName.slice(end)}`
  }

  #addMarked(name: string, form: Form, found: Marked[]): void {
    const dnsName = unwrapped(name, form)
    if (dnsName === undefined) return
    const { recordType } = form
    found.push({ dnsName, recordType })
    const end = firstLabelEnd(dnsName)
    if (this.#wildcardReplacement !== '' && dnsName.slice(0, end) === this.#wildcardReplacement)
      found.push({ dnsName: `*${dnsName.slice(end)}`, recordType })
  }
}

/** Whether DNS can have the name. */
export function isUsableName(name: string): boolean {
  if (name.length > MAX_NAME_BYTES) return false
  // Nearly all names.
  if (USABLE_ASCII.test(name)) return true
  return (
    Buffer.byteLength(name) <= MAX_NAME_BYTES &&
    name.split('.').every((label) => label !== '' && Buffer.byteLength(label) <= MAX_LABEL_BYTES)
  )
}

function formOf(affixes: Affixes, recordType: string | undefined): Form {
  const type = recordType?.toLowerCase() ?? ''
  const [prefix, suffix] = [affixes.prefix, affixes.suffix].map((affix) => affix.toLowerCase())
  const isTyped = type !== '' && !`${prefix}${suffix}`.includes(TEMPLATE)
  const typedSuffix = suffix.replaceAll(TEMPLATE, type)
  return {
    recordType,
    prefix: `${prefix.replaceAll(TEMPLATE, type)}${isTyped ? `${type}-` : ''}`,
    suffix: typedSuffix,
    suffixLabels: typedSuffix.split('.').length,
  }
}

/** The name that a mark's name was made from; undefined when it was not made so. */
function unwrapped(name: string, { prefix, suffix, suffixLabels }: Form): string | undefined {
  if (!name.startsWith(prefix)) return undefined
  const text = name.slice(prefix.length)
  if (suffix === '') return text || undefined
  const labels = text.split('.')
  const head = labels.slice(0, suffixLabels).join('.')
  if (!head.endsWith(suffix)) return undefined
  return [head.slice(0, -suffix.length), ...labels.slice(suffixLabels)].join('.') || undefined
}

/** Where `.example.org` of `a.example.org` begins. */
function firstLabelEnd(dnsName: string): number {
  const at = dnsName.indexOf('.')
  return at < 0 ? dnsName.length : at
}
