import { expect, test } from 'vitest'
import { etcdSpec } from '../../../test/support/etcd-machines.ts'
import { refuseFounding } from './check-founding.ts'

test('no cluster is made where the stack file says that there is one', () => {
  const addresses = ['10.0.0.1', '10.0.0.2']
  expect(() => refuseFounding(etcdSpec(addresses, { isExisting: true }))).toThrow(
    'Cannot make an etcd cluster of "etcd-1", "etcd-2": "is_initializing" is false, and there is no cluster of this stack; expected true where one is to be made',
  )
})

test('one is made otherwise', () => {
  expect(() => refuseFounding(etcdSpec(['10.0.0.1']))).not.toThrow()
  expect(() => refuseFounding(etcdSpec(['10.0.0.1'], { isExisting: false }))).not.toThrow()
})
