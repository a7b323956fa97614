import { expect, test } from 'vitest'
import { passedEnv } from './passed-env.ts'

test('everything but secrets of ours is passed on', () => {
  const env = { PATH: '/bin', ETCDCTL_USER: 'a:b', ETCDCTL_PASSWORD: 'b', USER_PASSWORD: 'b', OURS: 'b', MINE: 'c' }
  expect(passedEnv(env, ['OURS'])).toEqual({ PATH: '/bin', MINE: 'c' })
})
