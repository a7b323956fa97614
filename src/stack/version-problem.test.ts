import { expect, test } from 'vitest'
import { versionProblem } from './version-problem.ts'

const QUESTION = { stack: 'lab', asked: '16', kept: undefined, available: ['15'] }

test.each([
  ['that this host does not have', QUESTION, /this host does not have it; expected "15"/u],
  [
    'other than that of the data',
    { ...QUESTION, kept: '15' },
    /the data of "lab" is of PostgreSQL 15; expected version "15"/u,
  ],
  [
    'other than that of data on virtual machines',
    { ...QUESTION, kept: '15', available: undefined },
    /expected version "15"/u,
  ],
])('a version %s is refused with what is to be had', (_, question, message) => {
  expect(versionProblem(question)).toMatchObject({
    code: 'VersionUnavailable',
    message: expect.stringMatching(message),
  })
})

test.each([
  ['none', { ...QUESTION, asked: undefined, kept: '15' }],
  ['one that is installed', { ...QUESTION, available: ['16', '15'] }],
  ['that of the data', { ...QUESTION, kept: '16' }],
  ['one that only the machines know', { ...QUESTION, available: undefined }],
])('%s is taken', (_, question) => {
  expect(versionProblem(question)).toBeUndefined()
})
