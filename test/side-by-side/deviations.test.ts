// The rules of this folder and the rows of docs/reference/deviations.md belong together.

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { AUTO_RULES } from './published-rules.ts'
import { rulesFor } from './rules.ts'

const page = readFileSync(new URL('../../docs/reference/deviations.md', import.meta.url), 'utf8')
const rules = [...rulesFor('/skydns', []), ...AUTO_RULES].map(({ name }) => name)

it('every rule has a row in the page of deviations', () => {
  expect(rules.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

it('the page of deviations names only rules there are', () => {
  const ids = [...page.matchAll(/\(((?:`[a-z\d-]+`(?:, )?)+)\)/gu)].flatMap(([, list]) => list.split(', '))
  const named = ids.map((id) => id.slice(1, -1)).filter((id) => !/-\d{2,3}$/u.test(id))
  expect(named.filter((id) => !rules.includes(id))).toEqual([])
  expect(named).not.toEqual([])
})
