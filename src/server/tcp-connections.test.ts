import { describe, expect, test } from 'vitest'
import { TcpConnections } from './tcp-connections.ts'

interface Fake {
  readonly name: string
  isWaiting: boolean
  destroy(): void
}

/** Connections that are known by their names, and the names of those that were closed. */
function lab(most: number, mostOfClient: number) {
  const connections = new TcpConnections(most, mostOfClient)
  const closed: string[] = []
  const open = (address: string, name = address): Fake => {
    const connection: Fake = { name, isWaiting: false, destroy: () => closed.push(name) }
    connections.add(connection, address)
    return connection
  }
  return { connections, closed, open }
}

describe('when there is no room for another connection', () => {
  test('the client with most loses the one that has been idle for longest', () => {
    const { connections, closed, open } = lab(4, 3)
    open('192.0.2.9', 'small')
    const first = open('192.0.2.1', 'first')
    open('192.0.2.1', 'second')
    open('192.0.2.1', 'third')
    connections.asked(first)
    open('192.0.2.8', 'newcomer')
    expect(closed).toEqual(['second'])
    expect([connections.open, connections.accepted, connections.evicted]).toEqual([4, 5, 1])
  })

  test('one that waits for an answer is spared while another does not', () => {
    const { closed, open } = lab(3, 3)
    open('192.0.2.1', 'waiting').isWaiting = true
    open('192.0.2.1', 'idle')
    open('192.0.2.2')
    open('192.0.2.3')
    expect(closed).toEqual(['idle'])
  })

  test('among clients with one each, the one that asked least recently loses it', () => {
    const { connections, closed, open } = lab(3, 3)
    const [a] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => open(address))
    connections.asked(a)
    open('192.0.2.4')
    open('192.0.2.5')
    expect(closed).toEqual(['192.0.2.2', '192.0.2.3'])
  })

  test('a client beyond its own limit loses one of its own', () => {
    const { closed, open } = lab(100, 2)
    open('192.0.2.9')
    for (const name of ['a', 'b', 'c', 'd']) open('192.0.2.1', name)
    expect(closed).toEqual(['a', 'b'])
  })

  test('addresses of one IPv6 network are one client', () => {
    const { closed, open } = lab(100, 2)
    for (let i = 1; i <= 4; i++) open(`2001:db8::${i}`)
    open('2001:db8:0:1::1')
    expect(closed).toEqual(['2001:db8::1', '2001:db8::2'])
  })
})

test('connections that end make room', () => {
  const { connections, closed, open } = lab(2, 2)
  const one = open('192.0.2.1')
  open('192.0.2.2')
  connections.remove(one)
  connections.remove(one)
  connections.asked(one)
  open('192.0.2.3')
  expect([closed, connections.open]).toEqual([[], 2])
})

test('five thousand connections of 25 addresses leave a single one alone', () => {
  const { connections, closed, open } = lab(4096, 256)
  open('198.51.100.1', 'clean')
  for (let i = 0; i < 5000; i++) open(`192.0.2.${i % 25}`, 'flood')
  expect(closed).not.toContain('clean')
  expect(connections.open).toBe(4096)
})
