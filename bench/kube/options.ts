// The command line of `npm run bench:kube`.

import { parseArgs } from 'node:util'
import { chosen, positive } from '../arguments.ts'
import { SUBJECT_IDS, type SubjectId } from './subjects.ts'

const PHASES = ['starts', 'idle', 'latency', 'load'] as const
export type Phase = (typeof PHASES)[number]

export const USAGE = `Usage: npm run bench:kube -- [options]
  --phases LIST      of ${PHASES.join(',')} (default: all)
  --subjects LIST    of ${SUBJECT_IDS.join(',')} (default: all)
  --rounds N         measurements of each subject (default: 2)
  --objects N        ingresses, and as many virtual machines (default: 10000)
  --changes N        changes that are timed, of each subject, over all rounds (default: 600)
  --slow-changes N   the same for those who take seconds (default: 40)
  --rate N           changes per second under load (default: 50)
  --seconds N        length of the load (default: 60)
  --start-minutes N  who is not ready by then, or as far behind, is given up (default: 15)
  --idle-seconds N   how long somebody with nothing to do is looked at (default: 60)
  --quick            1 round, few objects, short; writes no document
  --json FILE        write every sample as JSON
  --document FILE    the page whose section is replaced (default: docs/benchmarks.md, unless --quick)`

export interface Options {
  readonly phases: readonly Phase[]
  readonly subjects: readonly SubjectId[]
  readonly rounds: number
  readonly objects: number
  readonly changes: number
  readonly slowChanges: number
  readonly rate: number
  readonly seconds: number
  readonly startMinutes: number
  readonly idleSeconds: number
  readonly json: string | undefined
  readonly document: string | undefined
}

export function parseOptions(args: string[]): Options {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args,
    options: {
      phases: text,
      subjects: text,
      rounds: text,
      objects: text,
      changes: text,
      'slow-changes': text,
      rate: text,
      seconds: text,
      'start-minutes': text,
      'idle-seconds': text,
      quick: { type: 'boolean', default: false },
      json: text,
      document: text,
    },
  })
  const { quick } = values
  return {
    phases: chosen('phases', values.phases, PHASES),
    subjects: chosen('subjects', values.subjects, SUBJECT_IDS),
    rounds: positive('rounds', values.rounds, quick ? 1 : 2),
    objects: positive('objects', values.objects, quick ? 300 : 10_000),
    changes: positive('changes', values.changes, quick ? 50 : 600),
    slowChanges: positive('slow-changes', values['slow-changes'], quick ? 5 : 40),
    rate: positive('rate', values.rate, 50),
    seconds: positive('seconds', values.seconds, quick ? 5 : 60),
    startMinutes: positive('start-minutes', values['start-minutes'], 15),
    idleSeconds: positive('idle-seconds', values['idle-seconds'], quick ? 5 : 60),
    json: values.json,
    document: values.document ?? (quick ? undefined : 'docs/benchmarks.md'),
  }
}
