// Checks for the cases of zonefile.json about files: which become zones, when they are loaded again, and who answers.
// Real files, real sources, the real catalog; only the clock is ours, so that intervals pass without waiting. What
// inotify notices between two intervals is tested beside the sources.

import { symlinkSync, unlinkSync, utimesSync } from 'node:fs'
import { expect, onTestFinished, vi } from 'vitest'
import type { Message } from '../../src/dns/message.ts'
import { formatName } from '../../src/dns/name.ts'
import { RCODE, rcodeName, TYPE, typeNumber } from '../../src/dns/types.ts'
import { Catalog } from '../../src/names/catalog.ts'
import type { LoaderReport } from '../../src/names/loader-messages.ts'
import { WorkQueue } from '../../src/names/work-queue.ts'
import { SerialStore } from '../../src/names/serials.ts'
import { SpaceSources } from '../../src/names/space-sources.ts'
import { block } from '../../src/server/corefile/testing.ts'
import { viewOf } from '../../src/server/views.ts'
import { question } from '../support/fault-server.ts'
import { Sandbox, zoneText } from '../support/holdfast-process.ts'
import { LocalZones, PLAIN_VIEW } from '../support/local-answer.ts'
import { briefly } from '../support/lookup.ts'

/** A case that is not a lookup; what `input` and `expect` hold depends on its kind. */
export interface Vector<Input, Expected> {
  readonly id: string
  readonly kind: string
  readonly input: Input
  readonly expect: Expected
  readonly note?: string
}

const RELOAD_SECONDS = 60
const TEXT = zoneText(['www A 192.0.2.1'])
const LINK = ' -> symlink to '
const FORWARD = 'forward . 192.0.2.53'

/** A directory and the zones served from it, until the test is over. */
class Scene {
  readonly sandbox = new Sandbox()
  /** Origin to file, as they are in service now. */
  readonly served = new Map<string, string>()
  readonly problems: string[] = []
  loads = 0
  readonly #zones = new LocalZones()
  readonly #work = new WorkQueue({ sliceMs: Infinity })
  readonly #catalog = new Catalog({
    arena: this.#zones.arena,
    directory: this.#zones.directory,
    serials: SerialStore.open(undefined, 'serials', (message) => this.problems.push(message)),
    report: (report) => this.#note(report),
    work: this.#work,
    listener: () => undefined,
  })
  readonly #stop = new AbortController()
  #view = PLAIN_VIEW

  constructor() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(async () => {
      this.#stop.abort()
      vi.useRealTimers()
      await this.sandbox.close()
    })
  }

  /** Starts the sources of a server block with these directives, as the loading thread does. */
  serve(directives: string): void {
    const config = block(directives)
    this.#view = viewOf(config, 0, 0, { version: '', hostname: '' })
    const { files, autos } = config
    const sources = new SpaceSources(
      {
        space: 0,
        files,
        autos,
        etcdZones: [],
        skydns: [],
        patronis: [],
        kubevirts: [],
        kubernetes: [],
        ptr: undefined,
      },
      {
        catalog: this.#catalog,
        work: this.#work,
        signal: this.#stop.signal,
        requireNs: true,
        stateDirectory: undefined,
        report: (report) => this.#note(report),
        listeners: new Map(),
      },
    )
    void sources.start()
  }

  /** Lets the interval between two looks pass so many times. */
  pass(intervals: number): void {
    vi.advanceTimersByTime(intervals * RELOAD_SECONDS * 1000)
  }

  ask(name: string, type: number = TYPE.A): Message | 'elsewhere' | undefined {
    return this.#zones.ask(question(name, type), [this.#view])
  }

  answer(name: string, type?: number): Message {
    const response = this.ask(name, type)
    if (typeof response !== 'object') throw new Error(`no answer: ${response}`)
    return response
  }

  #note(report: LoaderReport): void {
    if (report.kind === 'problem') this.problems.push(report.message)
    if (report.kind === 'gone') this.served.delete(report.origin)
    if (report.kind !== 'zone') return
    this.served.set(report.origin, report.file)
    this.loads++
  }
}

interface Walk {
  readonly regexp: string
  readonly template: string
  /** Those of the first case where a case names none. */
  readonly files?: readonly string[]
  readonly directory_is_symlink?: boolean
}
const WALKED = ['db', 'aa'].flatMap((prefix) => [`${prefix}.example.org`, `${prefix}.example.com${LINK}db.example.org`])

export function matches({ input, expect: expected }: Vector<Walk, { zones: readonly string[] }>): void {
  expect([...walk(input).served.keys()].toSorted()).toEqual(expected.zones)
}

/** Our deviation: the warning is not repeated with every scan. */
export function matchesFirst(
  vector: Vector<Walk, { zones: readonly string[]; file_used: string }> & { input: { files: readonly string[] } },
): void {
  const { input, expect: expected } = vector
  const scene = walk(input)
  expect([...scene.served]).toEqual([[expected.zones[0], scene.sandbox.path(`zones/${expected.file_used}`)]])
  scene.pass(3)
  expect(scene.problems).toHaveLength(1)
  for (const file of input.files) expect(scene.problems[0]).toContain(`"${scene.sandbox.path(`zones/${file}`)}"`)
}

export function forgetsDeleted(): void {
  const scene = walk({ regexp: String.raw`db\.(.*)`, template: '{1}', files: ['db.example.org', 'db.example.com'] })
  expect(scene.served.size).toBe(2)
  unlinkSync(scene.sandbox.path('zones/db.example.com'))
  scene.pass(1)
  expect([...scene.served.keys()]).toEqual(['example.org.'])
  expect(briefly(scene.answer('www.example.com.'))).toBe('REFUSED')
}

function walk({ regexp, template, files = WALKED, directory_is_symlink: linked = false }: Walk): Scene {
  const scene = new Scene()
  const { sandbox } = scene
  for (const [file, target] of files.map((each) => each.split(LINK)))
    if (target === undefined) sandbox.write(`zones/${file}`, TEXT)
    else symlinkSync(target, sandbox.path(`zones/${file}`))
  if (linked) symlinkSync('zones', sandbox.path('link'))
  scene.serve(`auto {\n directory ${sandbox.path(linked ? 'link' : 'zones')} ${regexp} ${template}\n}`)
  return scene
}

interface Served {
  readonly origins: readonly string[]
  /** Origins; some with a word on what is wrong with them. */
  readonly loaded: readonly string[]
  readonly query: string
}

export function serves({ input, expect: expected }: Vector<Served, object>): void {
  const [name, type] = input.query.split(' ')
  const response = serveAuto(input, FORWARD).ask(name, typeNumber(type))
  expect(
    typeof response === 'object'
      ? { rcode: rcodeName(response.rcode), zone: response.authorities.map((record) => formatName(record.name))[0] }
      : { passed_to_next: response === 'elsewhere' },
  ).toMatchObject(expected)
}

/** Our deviation: what no file covers is for the forwarders; refused as expected where there are none. */
export function forwardsUncovered({ input, expect: expected }: Vector<Served, { rcode: string }>): void {
  const [name] = input.query.split(' ')
  expect(serveAuto(input, FORWARD).ask(name)).toBe('elsewhere')
  expect(rcodeName(serveAuto(input, '').answer(name).rcode)).toBe(expected.rcode)
}

function serveAuto({ origins, loaded }: Served, more: string): Scene {
  const scene = new Scene()
  for (const zone of loaded) {
    const [origin, ...fault] = zone.split('. ')
    const text = fault.length === 0 ? TEXT : fault[0].startsWith('(empty') ? '' : 'not a zone file'
    scene.sandbox.write(`zones/db.${origin.replace(/\.$/u, '')}`, text)
  }
  scene.serve(`auto ${origins.join(' ')} {\n directory ${scene.sandbox.path('zones')}\n}\n${more}`)
  return scene
}

/** Our deviation: only other bytes are a change, and then the same serial does not matter. */
export function reloadsByContent(): void {
  const { scene, path } = serveFile()
  const later = new Date(Date.now() + 10_000)
  utimesSync(path, later, later)
  scene.pass(3)
  expect(scene.loads).toBe(1)
  scene.sandbox.write('db', TEXT.replace('192.0.2.1', '192.0.2.2'))
  scene.pass(1)
  expect(scene.loads).toBe(2)
  expect(briefly(scene.answer('www.example.org.'))).toBe('192.0.2.2')
}

export function leavesUntouched(): void {
  const { scene } = serveFile()
  const before = [scene.answer('example.org.', TYPE.SOA), scene.answer('www.example.org.')]
  scene.pass(5)
  expect(scene.loads).toBe(1)
  expect([scene.answer('example.org.', TYPE.SOA), scene.answer('www.example.org.')]).toEqual(before)
}

export function keepsDeleted(): void {
  const { scene, path } = serveFile()
  unlinkSync(path)
  scene.pass(3)
  expect(scene.problems).toEqual([`Cannot read "${path}": no such file; a zone loaded from it stays`])
  const { rcode, answers } = scene.answer('example.org.', TYPE.SOA)
  expect([rcode, answers.length]).toEqual([RCODE.NOERROR, 1])
  expect(briefly(scene.answer('www.example.org.'))).toBe('192.0.2.1')
}

function serveFile(): { scene: Scene; path: string } {
  const scene = new Scene()
  const path = scene.sandbox.write('db', TEXT)
  scene.serve(`file ${path} example.org {\n reload ${RELOAD_SECONDS}s\n reload_by_mtime\n}`)
  expect(scene.loads).toBe(1)
  return { scene, path }
}
