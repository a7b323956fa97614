// For stack files in TypeScript: gives the value its type, so that editors check and complete it.
//
//   export default defineStack({ name: 'lab', domain: 'lab.test', etcd: { members: 3 } })

import type { StackInput } from './schema.ts'

export function defineStack(stack: StackInput): StackInput {
  return stack
}
