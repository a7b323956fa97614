import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseName } from '../../dns/name.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { APEX_DEFAULTS, apexText, type ZoneApex } from '../kubevirt/zone-apex.ts'
import { loadZoneText } from '../load-zone.ts'
import { EndpointZoneFile } from './endpoint-zone-file.ts'

const APEX: ZoneApex = { ...APEX_DEFAULTS, zone: 'vm.example', nameServerAddresses: ['192.0.2.53'] }

let root: string
let directory: string
let path: string
let logged: string[]
let stop: AbortController
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-zone-'))
  directory = join(root, 'zones')
  path = join(directory, 'db.vm.example')
  logged = []
  stop = new AbortController()
})
afterEach(() => {
  stop.abort()
  rmSync(root, { recursive: true })
})

function open(apex: ZoneApex = APEX): EndpointZoneFile {
  const log = {
    info: (message: string) => void logged.push(`info: ${message}`),
    error: (message: string) => void logged.push(`error: ${message}`),
  }
  return new EndpointZoneFile({ directory, apex, log, signal: stop.signal })
}

function endpoint(dnsName: string, recordType: string, targets: readonly string[], recordTTL?: number): Endpoint {
  return {
    dnsName,
    recordType,
    targets,
    labels: {},
    providerSpecific: [],
    ...(recordTTL !== undefined && { recordTTL }),
  }
}

function setA(file: EndpointZoneFile, name: string, ...targets: string[]): void {
  file.set(name, targets.length === 0 ? [] : [endpoint(name, 'A', targets)])
}

async function write(file: EndpointZoneFile): Promise<string> {
  file.commit()
  await file.flush()
  return readFileSync(path, 'utf8')
}

function serialOf(text: string): number {
  return Number(/SOA .*\((\d+) /u.exec(text)?.[1])
}

/** Differs for a file that was written again. */
function identity(): bigint[] {
  const { ino, mtimeNs } = statSync(path, { bigint: true })
  return [ino, mtimeNs]
}

/** What is below the apex. */
function records(text: string): string[] {
  return text
    .slice(apexText(APEX, serialOf(text)).length)
    .split('\n')
    .slice(0, -1)
}

describe('what is written', () => {
  test('a zone without names is a zone, once it is known that there are none', async () => {
    const file = open()
    await file.flush()
    expect(existsSync(path)).toBe(false)
    expect(await write(file)).toBe(apexText(APEX, 1))
    expect(statSync(path).mode & 0o777).toBe(0o644)
    expect(readdirSync(directory)).toEqual(['db.vm.example'])
  })

  test('a file that is there stays as it is until everything is known', async () => {
    const before = open()
    setA(before, 'web.vm.example', '192.0.2.1')
    const text = await write(before)
    const file = open()
    file.commit(false)
    await file.flush()
    expect(readFileSync(path, 'utf8')).toBe(text)
    setA(file, 'other.vm.example', '192.0.2.2')
    file.commit(false)
    await file.flush()
    expect(readFileSync(path, 'utf8')).toBe(text)
    file.commit()
    await file.flush()
    expect(records(readFileSync(path, 'utf8'))).toEqual(['other IN A 192.0.2.2'])
  })

  test('where there is none, a file is made of what is known', async () => {
    const file = open()
    file.commit(false)
    await file.flush()
    expect(readFileSync(path, 'utf8')).toBe(apexText(APEX, 1))
  })

  test('records have the form of KubeSecondaryDNS, and a TTL where it is not that of the zone', async () => {
    const file = open()
    const name = 'nic1.web.prod.vm.example'
    file.set(name, [endpoint(name, 'A', ['192.0.2.1', '192.0.2.2']), endpoint(name, 'AAAA', ['2001:db8::1'], 60)])
    file.set('VM.example', [endpoint('vm.example', 'MX', ['10 mail.example'], 3600)])
    expect(records(await write(file))).toEqual([
      'nic1.web.prod IN A 192.0.2.1',
      'nic1.web.prod IN A 192.0.2.2',
      'nic1.web.prod 60 IN AAAA 2001:db8::1',
      '@ IN MX 10 mail.example.',
    ])
  })

  test('names outside the zone are passed over, and a record that cannot be is told of', async () => {
    const file = open()
    for (const name of ['vm.other', 'xvm.example', 'example', '', 'a..vm.example']) setA(file, name, '192.0.2.1')
    setA(file, 'a.b.vm.example', '192.0.2.300')
    setA(file, 'c.d.vm.example', '192.0.2.1\n@ A 192.0.2.2')
    expect(records(await write(file))).toEqual([])
    expect(logged.filter((line) => line.startsWith('error'))).toEqual([
      expect.stringContaining('error: Cannot write A of "a.b.vm.example" into zone "vm.example": '),
      expect.stringContaining('error: Cannot write A of "c.d.vm.example" into zone "vm.example": '),
    ])
  })

  test('what is set is not written before it is committed', async () => {
    const file = open()
    setA(file, 'a.b.vm.example', '192.0.2.1')
    await write(file)
    setA(file, 'a.b.vm.example', '192.0.2.2')
    setA(file, 'c.d.vm.example', '192.0.2.3')
    await file.flush()
    expect(records(readFileSync(path, 'utf8'))).toEqual(['a.b IN A 192.0.2.1'])
    expect(records(await write(file))).toEqual(['a.b IN A 192.0.2.2', 'c.d IN A 192.0.2.3'])
  })

  test('our own loader and named-checkzone take it', async () => {
    const file = open({ ...APEX, nameServerAddresses: ['192.0.2.53', '2001:db8::53'] })
    for (const name of ['a.b', '_x.-y-.c', `${'n'.repeat(63)}.web.prod`]) setA(file, `${name}.vm.example`, '192.0.2.1')
    const text = await write(file)
    const loaded = loadZoneText(Buffer.from(text), 'zone', parseName('vm.example.'), { requireNs: true })
    expect(loaded.problems).toEqual([])
    expect(loaded.accepted).toBe(true)
    const { status, stdout, error } = spawnSync('named-checkzone', ['-k', 'ignore', 'vm.example', path], {
      encoding: 'utf8',
    })
    // Where BIND is not installed, our own loader has to do.
    if (error === undefined) expect([status, stdout]).toEqual([0, expect.stringContaining('loaded serial 1')])
  })
})

describe('the serial', () => {
  test('rises by one with every change, and with nothing else', async () => {
    const file = open()
    const serials: number[] = []
    const step = async (...targets: string[]) => {
      setA(file, 'a.b.vm.example', ...targets)
      serials.push(serialOf(await write(file)))
    }
    await step('192.0.2.1')
    await step('192.0.2.1')
    await step('192.0.2.2')
    await step()
    await step()
    expect(serials).toEqual([1, 1, 2, 3, 3])
  })

  test('stays when the change was taken back before it was written', async () => {
    const file = open()
    setA(file, 'a.b.vm.example', '192.0.2.1')
    await write(file)
    const before = identity()
    for (const target of ['192.0.2.2', '192.0.2.1']) {
      setA(file, 'a.b.vm.example', target)
      setA(file, 'c.d.vm.example', ...(target === '192.0.2.2' ? [target] : []))
      file.commit()
    }
    await file.flush()
    expect(identity()).toEqual(before)
  })

  test('goes on from the file that is there, which is left alone when it has the same records', async () => {
    mkdirSync(directory)
    writeFileSync(path, `${apexText(APEX, 41)}c.d IN A 192.0.2.3\na.b IN A 192.0.2.1\n`)
    const before = identity()
    const file = open()
    setA(file, 'a.b.vm.example', '192.0.2.1')
    setA(file, 'c.d.vm.example', '192.0.2.3')
    await write(file)
    expect(identity()).toEqual(before)
    setA(file, 'c.d.vm.example')
    expect(serialOf(await write(file))).toBe(42)
  })

  test('rises when only the head of the zone has become another', async () => {
    mkdirSync(directory)
    writeFileSync(path, apexText(APEX, 41))
    expect(await write(open({ ...APEX, minimumSeconds: 60 }))).toBe(apexText({ ...APEX, minimumSeconds: 60 }, 42))
  })

  test('is found in a file that somebody else has written, and in half of one', async () => {
    mkdirSync(directory)
    writeFileSync(path, 'vm.example. 60 IN SOA a. b. (\n 9 ; serial\n 1 2 3 4 )\nbroken.web IN A 192.')
    expect(serialOf(await write(open()))).toBe(10)
  })

  test('goes around, without 0, which CoreDNS would not load', async () => {
    mkdirSync(directory)
    writeFileSync(path, apexText(APEX, 2 ** 32 - 1))
    const file = open()
    setA(file, 'a.b.vm.example', '192.0.2.1')
    expect(serialOf(await write(file))).toBe(1)
  })
})

test('many changes are written together', async () => {
  const file = open()
  const commits = 200
  for (let i = 0; i < commits; i++) {
    setA(file, `a.b${i}.vm.example`, '192.0.2.1')
    file.commit()
    await nextTurn()
  }
  await file.flush()
  const text = readFileSync(path, 'utf8')
  expect(records(text)).toHaveLength(commits)
  expect(serialOf(text)).toBeLessThan(commits / 2)
})

test('whatever is set and committed, the file has what was committed last', async () => {
  const names = ['a.b.vm.example', 'c.d.vm.example', 'e.f.vm.example']
  const set = fc.record({
    name: fc.constantFrom(...names),
    target: fc.option(fc.constantFrom('192.0.2.1', '192.0.2.2')),
  })
  const step = fc.oneof({ weight: 3, arbitrary: set }, fc.constantFrom('commit', 'flush'))
  await fc.assert(
    fc.asyncProperty(fc.array(step), async (steps) => {
      rmSync(directory, { recursive: true, force: true })
      const file = open()
      const wanted = new Map<string, string | null>()
      for (const each of steps) {
        if (each === 'flush') await file.flush()
        else if (each === 'commit') file.commit()
        else {
          wanted.set(each.name, each.target)
          setA(file, each.name, ...(each.target === null ? [] : [each.target]))
        }
      }
      const lines = [...wanted].filter(([, target]) => target !== null)
      expect(records(await write(file)).toSorted()).toEqual(
        lines.map(([name, target]) => `${name.replace('.vm.example', '')} IN A ${target}`).toSorted(),
      )
    }),
    { numRuns: 30 },
  )
})

describe('trouble with the directory', () => {
  test('is told once, and written when it is over', async () => {
    writeFileSync(directory, 'in the way')
    const file = open()
    setA(file, 'a.b.vm.example', '192.0.2.1')
    file.commit()
    void file.flush()
    await nextTurn()
    while (logged.length === 0) await nextTurn()
    rmSync(directory)
    await file.flush()
    expect(records(readFileSync(path, 'utf8'))).toEqual(['a.b IN A 192.0.2.1'])
    expect(logged).toEqual([
      `error: Cannot write "${path}": file already exists; it is tried again`,
      `info: File ${path} written: serial 1`,
    ])
  })

  test('that somebody removed it makes no difference to the next change', async () => {
    const file = open()
    await write(file)
    rmSync(directory, { recursive: true })
    setA(file, 'a.b.vm.example', '192.0.2.1')
    expect(serialOf(await write(file))).toBe(2)
  })
})

describe('the end', () => {
  test('what was committed is written first', async () => {
    const file = open()
    await write(file)
    setA(file, 'a.b.vm.example', '192.0.2.1')
    file.commit()
    stop.abort()
    await file.flush()
    expect(records(readFileSync(path, 'utf8'))).toEqual(['a.b IN A 192.0.2.1'])
  })

  test('comes although nothing can be written', async () => {
    writeFileSync(directory, 'in the way')
    const file = open()
    file.commit()
    const flushed = file.flush()
    stop.abort()
    await flushed
    expect(readFileSync(directory, 'utf8')).toBe('in the way')
    rmSync(directory)
  })
})
