import { expect, it } from 'vitest'
import { formatLabels, parseLabels } from './labels.ts'

it('keys are in order, whatever order they came in', () => {
  expect(formatLabels({ resource: 'ingress/default/web', owner: 'me' })).toBe(
    'heritage=external-dns,external-dns/owner=me,external-dns/resource=ingress/default/web',
  )
})

it('a label that would be read as another one is left out', () => {
  const text = formatLabels({ owner: 'me', remark: 'a,external-dns/owner=other', 'x,external-dns/owner': 'other' })
  expect(parseLabels(text)).toEqual({ owner: 'me' })
})

it('a value can have an equals sign', () => {
  expect(parseLabels('heritage=external-dns,external-dns/remark=a=b')).toEqual({ remark: 'a=b' })
})

it.each(['', 'v=spf1 -all', 'heritage', 'heritage=mate,heritage=external-dns', 'external-dns/owner=me'])(
  '"%s" is no text of labels',
  (text) => expect(parseLabels(text)).toBeUndefined(),
)
