import { expect, test } from 'vitest'
import { WATCH_ANSWER } from './messages.ts'
import { type Decoded, decode, type Encodable, encode } from './protobuf.ts'
import { readWatch, type WatchNews } from './watch.ts'

test('fragments are put together, so that a revision is never in two pieces', async () => {
  const news = await read(
    { created: true },
    { fragment: true, events: [put('x', 3n), put('y', 4n), put('a', 5n), put('b', 5n)] },
    { fragment: true, events: [put('c', 5n)] },
    { fragment: false, events: [put('d', 5n), put('e', 6n)] },
    { events: [{ type: 1, kv: { key: Buffer.from('a'), modRevision: 7n } }] },
  )
  expect(news).toEqual(['created', 'x@3 y@4', 'a@5 b@5 c@5 d@5 e@6', 'a deleted@7'])
})

test('an answer without events is progress, but the one that says "created" is not', async () => {
  expect(await read({ created: true, header: { revision: 9n } }, { header: { revision: 12n } })).toEqual([
    'created',
    'progress 12',
  ])
})

test('nothing comes after "compacted", not even events that were incomplete', async () => {
  const news = await read(
    { created: true },
    { fragment: true, events: [put('a', 5n)] },
    { canceled: true, compactRevision: 40n },
    { events: [put('b', 41n)] },
  )
  expect(news).toEqual(['created', 'compacted 40'])
})

function put(key: string, modRevision: bigint) {
  return { type: 0, kv: { key: Buffer.from(key), modRevision } }
}

async function read(...answers: Encodable<typeof WATCH_ANSWER>[]): Promise<string[]> {
  const told: string[] = []
  for await (const news of readWatch(decoded(answers))) told.push(show(news))
  return told
}

async function* decoded(answers: Encodable<typeof WATCH_ANSWER>[]): AsyncGenerator<Decoded<typeof WATCH_ANSWER>> {
  for (const answer of answers) yield decode(WATCH_ANSWER, encode(WATCH_ANSWER, answer))
}

function show(news: WatchNews): string {
  if (news.kind === 'created') return 'created'
  if (news.kind !== 'events') return `${news.kind} ${news.revision}`
  return news.events
    .map(({ kv, isDeletion }) => `${Buffer.from(kv.key).toString()}${isDeletion ? ' deleted' : ''}@${kv.modRevision}`)
    .join(' ')
}
