// YAML text to plain values that remember where they stood, so that every fault can be told with line and column.
// Messages name no value of the text: it may be a password with a character that YAML takes for its own.

import {
  type Alias,
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
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml'
import type { Located, Path, Problem } from './located.ts'

/** Far above what anybody writes, far below what fills the memory. */
const MOST_ALIASES = 10_000

const ENDLESS = 'aliases lead on without end; expected anchors that do not hold themselves'
const NO_MERGE = 'a merge key "<<" has something else than a map; expected an alias of a map, or a list of them'

export class YamlText implements Located {
  readonly faults: readonly Problem[]
  readonly value: unknown
  readonly #document: Document.Parsed
  readonly #lines = new LineCounter()
  /** What each alias stands for. */
  readonly #targets = new Map<Alias, Node | undefined>()

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
    if (text.includes('*')) this.#followAliases()
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

  place(path: Path): string {
    return this.#placeAt(offsetOf(this.#find(path).node) ?? 0)
  }

  placeOfKey(path: Path, key: string): string {
    const { node, found } = this.#find(path)
    const pair = found ? this.#pairOf(node, key) : undefined
    return this.#placeAt(offsetOf(pair?.key) ?? offsetOf(node) ?? 0)
  }

  #placeAt(offset: number): string {
    const { line, col } = this.#lines.linePos(offset)
    return `${Math.max(1, line)}:${Math.max(1, col)}`
  }

  #fault(offset: number, message: string): Problem {
    return { place: this.#placeAt(offset), message }
  }

  /** All in one walk: the library walks through the whole document for each of them. */
  #followAliases(): void {
    const anchors = new Map<string, Node>()
    visit(this.#document, {
      Node: (_, node) => {
        if (isAlias(node)) this.#targets.set(node, anchors.get(node.source))
        else if (node.anchor !== undefined) anchors.set(node.anchor, node)
      },
    })
  }

  #lostAliases(): Problem[] {
    const lost = [...this.#targets].filter(([, target]) => target === undefined)
    return lost.map(([alias]) =>
      this.#fault(offsetOf(alias) ?? 0, 'an alias without its anchor; expected the anchor above it'),
    )
  }

  #find(path: Path): { node: unknown; found: boolean } {
    let node = this.#followed(this.#document.contents)
    for (const step of path) {
      const next = isSeq(node) ? node.items[Number(step)] : this.#pairOf(node, String(step))?.value
      if (next === undefined || next === null) return { node, found: false }
      node = this.#followed(next)
    }
    return { node, found: true }
  }

  #followed(node: unknown): unknown {
    return isAlias(node) ? this.#targets.get(node) : node
  }

  /** The pair of a map, or the one that a merge key `<<` brings into it. */
  #pairOf(node: unknown, key: string): Pair | undefined {
    if (!isMap(node)) return undefined
    const named = (name: string) => node.items.find((pair) => (isScalar(pair.key) ? pair.key.value : pair.key) === name)
    const own = named(key)
    if (own !== undefined) return own
    const merged = this.#followed(named('<<')?.value)
    const maps = isSeq(merged) ? merged.items : [merged]
    return maps.map((map) => this.#pairOf(this.#followed(map), key)).find((pair) => pair !== undefined)
  }
}

function wordsOf({ code, message }: YAMLError): string {
  const words: Readonly<Partial<Record<ErrorCode, string>>> = {
    DUPLICATE_KEY: 'a key stands twice in one map; expected once',
    MULTIPLE_DOCS: 'a second document starts here; expected one in a file',
    NON_STRING_KEY: 'a key is not text; expected a word',
    TAB_AS_INDENT: 'a tab indents the line; expected spaces',
    BAD_INDENT: `${message}; expected YAML`,
    MISSING_CHAR: `${message}; expected YAML`,
  }
  return words[code] ?? 'this is not YAML; expected YAML 1.2, with texts in quotes where they have special characters'
}

function offsetOf(node: unknown): number | undefined {
  if (isPair(node)) return offsetOf(node.key)
  return isNode(node) || isCollection(node) ? node.range?.[0] : undefined
}
