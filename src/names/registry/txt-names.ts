// Where the TXT records stand that say to whom an endpoint belongs, as ExternalDNS names them: `a-web.example.org` for the
// A records of `web.example.org`, with a prefix or suffix around the first label, in which %{record_type} can stand.
// Before v0.12 names had no record type; such marks are read, but not written.

const TEMPLATE = '%{record_type}'
const RECORD_TYPES = ['A', 'AAAA', 'CNAME', 'NS', 'MX', 'PTR', 'SRV', 'NAPTR', 'TXT', 'DNAME', 'TLSA'] as const
const MAX_LABEL_BYTES = 63
const MAX_NAME_BYTES = 253

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

export class TxtNames {
  readonly #prefix: string
  readonly #suffix: string
  readonly #wildcardReplacement: string
  readonly #hasTemplate: boolean

  constructor({ prefix, suffix, wildcardReplacement }: Affixes) {
    this.#prefix = prefix.toLowerCase()
    this.#suffix = suffix.toLowerCase()
    this.#wildcardReplacement = wildcardReplacement.toLowerCase()
    this.#hasTemplate = `${prefix}${suffix}`.toLowerCase().includes(TEMPLATE)
  }

  /** The name of the mark for records of one type. */
  nameOf(dnsName: string, recordType: string): string {
    const type = recordType.toLowerCase()
    return this.#around(dnsName, this.#hasTemplate ? '' : `${type}-`, type)
  }

  /** The name of a mark without a type. */
  oldNameOf(dnsName: string): string {
    return this.#around(dnsName, '', '')
  }

  /** What a mark of this name can be for, in lower case; a name that can be read with a type is not read without. */
  marked(txtName: string): readonly Marked[] {
    const name = txtName.toLowerCase()
    const typed = RECORD_TYPES.flatMap((recordType) =>
      this.#unwrapped(name, recordType.toLowerCase()).map((dnsName) => ({ dnsName, recordType })),
    )
    if (typed.length > 0) return typed
    return this.#strip(name, '').flatMap((dnsName) =>
      this.#withWildcard(dnsName).map((each) => ({ dnsName: each, recordType: undefined })),
    )
  }

  #around(dnsName: string, typePrefix: string, type: string): string {
    const { first, rest } = splitFirst(dnsName)
    const label = first === '*' && this.#wildcardReplacement !== '' ? this.#wildcardReplacement : first
    return `${withType(this.#prefix, type)}${typePrefix}${label}${withType(this.#suffix, type)}${rest}`
  }

  #unwrapped(name: string, type: string): string[] {
    const stripped = this.#strip(name, type)
    const named = this.#hasTemplate ? stripped : stripped.flatMap((text) => withoutPrefix(text, `${type}-`))
    return named.flatMap((dnsName) => this.#withWildcard(dnsName))
  }

  /** Without prefix and suffix; nothing when it has them not. */
  #strip(name: string, type: string): string[] {
    const suffix = withType(this.#suffix, type)
    return withoutPrefix(name, withType(this.#prefix, type)).flatMap((text) => {
      if (suffix === '') return text
      const labels = text.split('.')
      const length = suffix.split('.').length
      const head = labels.slice(0, length).join('.')
      if (!head.endsWith(suffix)) return []
      return [head.slice(0, -suffix.length), ...labels.slice(length)].join('.')
    })
  }

  #withWildcard(dnsName: string): string[] {
    const { first, rest } = splitFirst(dnsName)
    const isReplaced = this.#wildcardReplacement !== '' && first === this.#wildcardReplacement
    return isReplaced ? [dnsName, `*${rest}`] : [dnsName]
  }
}

/** Whether DNS can have the name. */
export function isUsableName(name: string): boolean {
  return (
    Buffer.byteLength(name) <= MAX_NAME_BYTES &&
    name.split('.').every((label) => label !== '' && Buffer.byteLength(label) <= MAX_LABEL_BYTES)
  )
}

function withType(affix: string, type: string): string {
  return affix.replaceAll(TEMPLATE, type)
}

function withoutPrefix(text: string, prefix: string): string[] {
  return text.startsWith(prefix) && text.length > prefix.length ? [text.slice(prefix.length)] : []
}

/** `a.example.org` → `a` and `.example.org`. */
function splitFirst(dnsName: string): { readonly first: string; readonly rest: string } {
  const at = dnsName.indexOf('.')
  return at < 0 ? { first: dnsName, rest: '' } : { first: dnsName.slice(0, at), rest: dnsName.slice(at) }
}
