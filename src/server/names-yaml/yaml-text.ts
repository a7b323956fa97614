// YAML text to plain values that remember where they stood, so that every fault can be told with line and column.
// Messages name no value of the text: it may be a password with a character that YAML takes for its own.

import {
  type Document,
  type ErrorCode,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml'

export type Path = readonly PropertyKey[]

export interface YamlFault {
  /** `14:7` */
  readonly place: string
  readonly message: string
}

/** Far above what anybody writes, far below what fills the memory. */
const MOST_ALIASES = 10_000

const ENDLESS = 'aliases lead on without end; wanted: anchors that do not hold themselves'
const NO_MERGE = 'a merge key "<<" has something else than a map; wanted: an alias of a map, or a list of them'

export class YamlText {
  readonly faults: readonly YamlFault[]
  readonly value: unknown
  readonly #document: Document.Parsed
  readonly #lines = new LineCounter()

  constructor(text: string) {
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      merge: true,
      stringKeys: true,
    })
    const faults = [...this.#document.errors, ...this.#document.warnings].map((error) =>
      this.#fault(error.pos[0], wordsOf(error)),
    )
    if (faults.length === 0) faults.push(...this.#lostAliases())
    if (faults.length === 0) {
      try {
        this.value = this.#document.toJS({ maxAliasCount: MOST_ALIASES })
      } catch (error) {
        faults.push(this.#fault(0, error instanceof ReferenceError ? ENDLESS : NO_MERGE))
      }
    }
    this.faults = faults
  }

  /** `14:7`, the place of what the path leads to, or of the nearest thing above it. */
  place(path: Path): string {
    return this.#placeAt(offsetOf(this.#find(path).node) ?? 0)
  }

  placeOfKey(path: Path, key: string): string {
    const { node, found } = this.#find(path)
    const pair = found ? pairOf(node, key, this.#document) : undefined
    return this.#placeAt(offsetOf(pair?.key) ?? offsetOf(node) ?? 0)
  }

  #placeAt(offset: number): string {
    const { line, col } = this.#lines.linePos(offset)
    return `${Math.max(1, line)}:${Math.max(1, col)}`
  }

  #fault(offset: number, message: string): YamlFault {
    return { place: this.#placeAt(offset), message }
  }

  #lostAliases(): YamlFault[] {
    const faults: YamlFault[] = []
    visit(this.#document, {
      Alias: (_, alias) => {
        if (alias.resolve(this.#document) === undefined)
          faults.push(this.#fault(offsetOf(alias) ?? 0, 'an alias without its anchor; wanted: the anchor above it'))
      },
    })
    return faults
  }

  #find(path: Path): { node: unknown; found: boolean } {
    let node = followed(this.#document.contents, this.#document)
    for (const step of path) {
      const next = isSeq(node) ? node.items[Number(step)] : pairOf(node, String(step), this.#document)?.value
      if (next === undefined || next === null) return { node, found: false }
      node = followed(next, this.#document)
    }
    return { node, found: true }
  }
}

function wordsOf({ code, message }: YAMLError): string {
  const words: Readonly<Partial<Record<ErrorCode, string>>> = {
    DUPLICATE_KEY: 'a key stands twice in one map; wanted: once',
    MULTIPLE_DOCS: 'a second document starts here; wanted: one in a file',
    NON_STRING_KEY: 'a key is not text; wanted: a word',
    TAB_AS_INDENT: 'a tab indents the line; wanted: spaces',
    BAD_INDENT: `${message}; wanted: YAML`,
    MISSING_CHAR: `${message}; wanted: YAML`,
  }
  return words[code] ?? 'this is not YAML; wanted: YAML 1.2, with texts in quotes where they have special characters'
}

function followed(node: unknown, document: Document.Parsed): unknown {
  return isAlias(node) ? node.resolve(document) : node
}

/** The pair of a map, or the one that a merge key `<<` brings into it. */
function pairOf(node: unknown, key: string, document: Document.Parsed): Pair | undefined {
  if (!isMap(node)) return undefined
  const named = (name: string) => node.items.find((pair) => (isScalar(pair.key) ? pair.key.value : pair.key) === name)
  const own = named(key)
  if (own !== undefined) return own
  const merged = followed(named('<<')?.value, document)
  const maps = isSeq(merged) ? merged.items : [merged]
  return maps.map((map) => pairOf(followed(map, document), key, document)).find((pair) => pair !== undefined)
}

function offsetOf(node: unknown): number | undefined {
  if (isPair(node)) return offsetOf(node.key)
  return isNode(node) || isCollection(node) ? node.range?.[0] : undefined
}
