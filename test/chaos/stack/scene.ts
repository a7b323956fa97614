// What an event has at hand.

import type { Random } from '../../fuzz/random.ts'
import type { MemberLab } from '../../support/member-lab.ts'
import type { PrimaryNames } from '../../support/primary-names.ts'
import type { PrimaryWriter } from '../../support/primary-writer.ts'
import type { Journal } from '../journal.ts'

export interface Scene {
  readonly lab: MemberLab
  readonly random: Random
  readonly journal: Journal
  readonly writer: PrimaryWriter
  readonly names: PrimaryNames
  /** Events come to an end early. */
  readonly signal: AbortSignal
}

/** Resolves when what was done is done; what it takes to recover from it is seen by who called. */
export type StackEvent = (scene: Scene) => Promise<void>
