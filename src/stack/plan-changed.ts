// The plan that a user has confirmed is not the one that would be applied by now.

import { HoldfastError } from '../lib/errors.ts'
import type { Plan } from './plan.ts'

export class PlanChangedError extends HoldfastError {
  /** What would be done now. */
  readonly plan: Plan

  constructor(plan: Plan) {
    super(
      'PlanChanged',
      `Cannot apply the plan for "${plan.stack}": the stack has changed since the plan was shown; nothing was changed`,
      { hint: 'the new plan is shown above; run "holdfast up" again to confirm it', retryable: true },
    )
    this.plan = plan
  }
}
