import { describe, expect, it } from 'vitest'
import { parseName } from '../dns/name.ts'
import { Arena } from './arena.ts'
import { compileFailedZone } from './compile.ts'
import type { CompiledZone } from './compile.ts'
import { Directory } from './directory.ts'
import { Control } from './epoch.ts'
import { findZone } from './find.ts'
import { Query } from './query.ts'

class Fixture {
  readonly arena = new Arena(4096)
  readonly control = Control.create(2)
  readonly directory = new Directory(this.arena, this.control)

  compile(origin: string, space = 0): CompiledZone {
    return compileFailedZone(parseName(origin), this.arena, { space, slot: 1, fallthrough: false })
  }

  publish(origin: string, space = 0): CompiledZone {
    const compiled = this.compile(origin, space)
    this.directory.publish(compiled)
    return compiled
  }

  find(name: string, space = 0): number {
    const query = new Query()
    query.attach(this.arena.buffer)
    const wire = parseName(name)
    query.setName(wire, 0, wire.length)
    return findZone(query, space, 0)
  }
}

describe('the directory of zones', () => {
  it('finds the zone with the longest origin, whatever the letter case', () => {
    const fixture = new Fixture()
    const parent = fixture.publish('Example.')
    const child = fixture.publish('sub.example.')
    expect(fixture.find('www.SUB.example.')).toBe(child.zone)
    expect(fixture.find('subx.example.')).toBe(parent.zone)
    expect(fixture.find('example.')).toBe(parent.zone)
    expect(fixture.find('elsewhere.')).toBe(0)
  })

  it('keeps server blocks apart', () => {
    const fixture = new Fixture()
    const ours = fixture.publish('example.', 1)
    expect(fixture.find('www.example.', 1)).toBe(ours.zone)
    expect(fixture.find('www.example.', 2)).toBe(0)
  })

  it('finds thousands of zones, also after some of them are gone', () => {
    const fixture = new Fixture()
    const zones = Array.from({ length: 3000 }, (_, i) => fixture.publish(`zone${i}.example.`))
    for (const [i, { zone }] of zones.entries()) if (i % 3 === 0) fixture.directory.remove(zone)
    for (const [i, { zone }] of zones.entries())
      expect(fixture.find(`www.zone${i}.example.`)).toBe(i % 3 === 0 ? 0 : zone)
  })

  it('uses the memory of an old version again only when its readers have left', () => {
    const fixture = new Fixture()
    const old = fixture.publish('example.')
    fixture.control.enter(1)
    const next = fixture.publish('example.')
    expect(fixture.find('example.')).toBe(next.zone)
    fixture.directory.reclaim()
    expect(fixture.compile('other.').zone).not.toBe(old.zone)
    fixture.control.leave(1)
    fixture.directory.reclaim()
    expect(fixture.compile('other.').zone).toBe(old.zone)
  })

  it('does not wait for a reader that came after the change', () => {
    const fixture = new Fixture()
    const old = fixture.publish('example.')
    fixture.publish('example.')
    fixture.control.enter(0)
    fixture.directory.reclaim()
    expect(fixture.compile('other.').zone).toBe(old.zone)
  })
})
