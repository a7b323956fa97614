import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { endedContainers } from './virsh-container.ts'
import { VirshProcess } from './virsh-process.ts'

const virsh = new VirshProcess('lxc:///system', { signal: new AbortController().signal, env: process.env })
const keeper = spawn('sh', ['-c', 'sleep 60; :', '--name', 'container'])
afterAll(() => keeper.kill('SIGKILL'))

// Whoever does not see it sees no containers.
const daemon = spawn('bash', ['-c', 'exec -a libvirtd sleep 60'])
afterAll(() => daemon.kill('SIGKILL'))

test('a container has ended when its process is gone, or has become another one', async () => {
  await until('the daemon', () => readFileSync(`/proc/${daemon.pid}/cmdline`, 'utf8').startsWith('libvirtd'))
  const gone = spawn('true')
  await new Promise((resolve) => gone.once('exit', resolve))
  const [running, ended, other] = [keeper.pid, gone.pid, process.pid].map(String)
  expect([...(await endedContainers(virsh, [running, ended, other]))].filter(Boolean)).toEqual([ended, other])
})
