import { expect, test } from 'vitest'
import { HoldfastError } from '../lib/errors.ts'
import { makePlan } from '../stack/plan.ts'
import { PlanChangedError } from '../stack/plan-changed.ts'
import { isBeforeChanges } from './up.ts'

const plan = makePlan({ stack: 'lab', file: 'stack.yaml', machines: [], restarts: [], credentials: [], remarks: [] })

test.each([
  ['another plan than the confirmed one', true, new PlanChangedError(plan)],
  ['a lock', true, new HoldfastError('StackLocked', '')],
  ['a parameter', true, new HoldfastError('ParameterInvalid', '')],
  ['a restart that the plan did not have', false, new HoldfastError('RestartUnplanned', '')],
  ['a step that was given its files', false, new HoldfastError('StepRefused', '')],
  ['anything else', false, new Error('no')],
])('%s ends "up" before it has changed anything: %s', (_, expected, error) => {
  expect(isBeforeChanges(error)).toBe(expected)
})
