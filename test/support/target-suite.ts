// What every target has to do, told once: the same cases for each of them.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { plain } from '../../src/machine/content.ts'
import type { Machine, Service } from '../../src/machine/machine.ts'
import type { Target } from '../../src/targets/target.ts'
import { file, isRoot, machine, service, USER } from './local-stack.ts'
import { until } from './until.ts'

export interface TargetUnderTest {
  readonly target: Target
  /** Variables that services get from the target, beside those that all have. */
  readonly variables: readonly string[]
  /** What a service has said. */
  log(machine: string, service: string): string | Promise<string>
  /** Ids of the processes of a machine. */
  processes(machine: string): number[] | Promise<number[]>
  close(): Promise<void>
}

const ENDLESS = 'trap "echo stopped; exit 0" TERM; trap "echo reloaded" HUP; echo started; while :; do sleep 0.05; done'

export function targetSuite(name: string, open: () => TargetUnderTest | Promise<TargetUnderTest>): void {
  describe(`the target ${name}`, () => {
    let under: TargetUnderTest
    let target: Target
    beforeEach(async () => {
      under = await open()
      target = under.target
    })
    afterEach(() => under.close())

    const lines = async (machine: string, service: string) => (await under.log(machine, service)).trimEnd().split('\n')
    const said = (machine: string, service: string, ...expected: string[]) =>
      until(`${service} to say ${expected.join(', ')}`, async () => {
        const now = await lines(machine, service)
        return now.join() === expected.join() ? now : undefined
      })
    const pidOf = async (machine: string, service: string) =>
      (await target.observe()).get(machine)?.services.get(service)?.pid

    test('what was written is read back', async () => {
      const made = machine('m', [], {
        directories: [
          { path: '/etc/app', owner: USER, mode: 0o750 },
          { path: '/var/lib/app', owner: USER, mode: 0o700, isData: true },
        ],
        files: [file('/etc/app/app.conf', 'one\n', 'nothing', 0o600), file('/opt/x/y/z.txt', 'ä\n')],
      })
      await target.write(made)
      const existing = (await target.read()).get('m')
      expect(existing).toMatchObject({ name: 'm', kind: 'etcd', address: made.address, services: [] })
      expect(existing?.files).toEqual(
        new Map([
          ['/etc/app/app.conf', { owner: USER, mode: 0o600, text: 'one\n' }],
          ['/opt/x/y/z.txt', { owner: USER, mode: 0o644, text: 'ä\n' }],
        ]),
      )
      expect(existing?.directories).toEqual(
        new Map([
          ['/etc/app', { owner: USER, mode: 0o750, isData: false }],
          ['/var/lib/app', { owner: USER, mode: 0o700, isData: true }],
        ]),
      )
    })

    test('another write changes what differs, leaves initial files alone and removes what is gone', async () => {
      const initial = { ...file('/etc/first', 'first'), isInitial: true }
      await target.write(machine('m', [], { files: [initial, file('/etc/a', '1'), file('/old/b', '2')] }))
      const changed = [{ ...initial, content: plain('later') }, file('/etc/a', '3', 'nothing', 0o600)]
      await target.write(machine('m', [], { files: changed }))
      const files = (await target.read()).get('m')?.files
      expect([...(files ?? [])].map(([path, { text, mode }]) => [path, text, mode])).toEqual([
        ['/etc/first', 'first', 0o644],
        ['/etc/a', '3', 0o600],
      ])
    })

    test('services are started in order, and stopped in the opposite one', async () => {
      const services = ['a', 'b', 'c'].map((name) =>
        service(name, `echo ${name}; trap "date +%s%N; exit 0" TERM; while :; do sleep 0.02; done`),
      )
      const made = machine('m', services)
      await target.write(made)
      await target.start(made)
      const pids = await Promise.all(services.map(({ name }) => pidOf('m', name)))
      expect(pids).toEqual(pids.toSorted((x, y) => Number(x) - Number(y)))
      for (const { name } of services) await until('its first line', async () => (await under.log('m', name)) !== '')
      await target.stop('m')
      const ends: bigint[] = []
      for (const { name } of services) ends.push(BigInt((await lines('m', name)).at(-1) ?? 0))
      expect(ends).toEqual(ends.toSorted((x, y) => (x < y ? 1 : -1)))
      expect(await under.processes('m')).toEqual([])
    })

    test('a machine that was stopped is started again', async () => {
      const made = await started(machine('m', [service('a', ENDLESS)]))
      await said('m', 'a', 'started')
      await target.stop('m')
      expect((await target.observe()).get('m')?.services.get('a')?.state).toBe('stopped')
      await target.start(made)
      await said('m', 'a', 'started', 'stopped', 'started')
    })

    test('starting what runs as it should leaves it alone; another command or environment restarts it', async () => {
      const one = service('one', ENDLESS)
      const two = service('two', ENDLESS)
      await started(machine('m', [one, two]))
      const before = [await pidOf('m', 'one'), await pidOf('m', 'two')]
      await started(machine('m', [one, { ...two, environment: { MORE: '1' } }]))
      expect(await pidOf('m', 'one')).toBe(before[0])
      expect(await pidOf('m', 'two')).not.toBe(before[1])
      expect((await target.read()).get('m')?.services[1].environment).toEqual({ MORE: '1' })
      await started(machine('m', [one]))
      expect([...((await target.observe()).get('m')?.services.keys() ?? [])]).toEqual(['one'])
    })

    test('a restart stops a service and starts it as it was written last; a reload only tells it', async () => {
      const made = machine('m', [service('a', ENDLESS, { reloadSignal: 'SIGHUP' }), service('b', ENDLESS)])
      await started(made)
      const [a, b] = [await pidOf('m', 'a'), await pidOf('m', 'b')]
      await said('m', 'a', 'started')
      await target.reload('m', 'a')
      await said('m', 'a', 'started', 'reloaded')
      expect(await pidOf('m', 'a')).toBe(a)
      await target.restart('m', 'a')
      await said('m', 'a', 'started', 'reloaded', 'stopped', 'started')
      expect(await pidOf('m', 'a')).not.toBe(a)
      expect(await pidOf('m', 'b')).toBe(b)
    })

    test('a step is tried until it succeeds, holds up what comes after it, and is done once', async () => {
      const step = service('step', 'echo try; test -e run/ready', { once: true })
      const made = machine('m', [service('a', ENDLESS), step, service('after', ENDLESS)])
      await started(made)
      await until('three tries', async () => (await lines('m', 'step')).length >= 3)
      const state = (await target.observe()).get('m')?.services
      expect(state?.get('step')?.failure).toMatchObject({ kind: 'exited', exitCode: 1, detail: 'try' })
      expect(state?.get('after')?.state).toBe('stopped')
      await target.write({ ...made, files: [file('/run/ready', '')] })
      await until('the step', async () => (await stateOf('m', 'step')) === 'done')
      await until('what comes after it', async () => (await stateOf('m', 'after')) === 'running')
      const tries = (await lines('m', 'step')).length
      await target.stop('m')
      await target.start(made)
      expect(await stateOf('m', 'step')).toBe('done')
      expect(await lines('m', 'step')).toHaveLength(tries)
      await target.restart('m', 'step')
      await until('another try', async () => (await lines('m', 'step')).length === tries + 1)
    })

    test('a step is done again when a file that it depends on has changed', async () => {
      const step = service('step', 'cat etc/input', { once: true })
      const made = (text: string) => machine('m', [step], { files: [file('/etc/input', text, { restart: 'step' })] })
      await started(made('one\n'))
      await said('m', 'step', 'one')
      await started(made('one\n'))
      await started(made('two\n'))
      await said('m', 'step', 'one', 'two')
    })

    test('a file that was written for a service which has not read it since is told', async () => {
      const made = (text: string) =>
        machine('m', [service('a', ENDLESS), service('b', ENDLESS, { reloadSignal: 'SIGHUP' })], {
          files: [file('/etc/a', text, { restart: 'a' }), file('/etc/b', text, { reload: 'b' })],
        })
      await started(made('1'))
      expect((await target.read()).get('m')?.pending).toEqual(new Map())
      await started(made('2'))
      expect((await target.read()).get('m')?.pending).toEqual(
        new Map([
          ['a', 'restart'],
          ['b', 'reload'],
        ]),
      )
      await target.restart('m', 'a')
      await target.reload('m', 'b')
      expect((await target.read()).get('m')?.pending).toEqual(new Map())
    })

    test('removing keeps data or leaves nothing', async () => {
      const made = machine('m', [service('a', `echo precious >>var/lib/app/data; ${ENDLESS}`)], {
        directories: [{ path: '/var/lib/app', owner: USER, mode: 0o700, isData: true }],
        files: [file('/etc/app.conf', 'x'), file('/var/lib/other', 'y')],
      })
      await started(made)
      await said('m', 'a', 'started')
      await target.remove('m', { keepData: true })
      expect(await under.processes('m')).toEqual([])
      expect(await target.read()).toEqual(new Map())
      expect(await target.observe()).toEqual(new Map())
      await started({ ...made, services: [service('b', 'cat var/lib/app/data; ls var/lib; exec sleep 100')] })
      await said('m', 'b', 'precious', 'app', 'other')
      await target.remove('m', { keepData: false })
      await started({ ...made, services: [service('c', 'cat var/lib/app/data; echo $?; exec sleep 100')] })
      await until('its answer', async () => (await lines('m', 'c')).at(-1) === '1')
    })

    test('services get the environment of their files, and nothing of ours', async () => {
      const env = service('env', 'env; id -un; exec sleep 100', {
        environment: { PLAIN: 'a b' },
        environmentFiles: ['/etc/env'],
      })
      const text = '# comment\nSECRET=s=1"\nQUOTED="two words"\n\n'
      await started(machine('m', [env], { files: [file('/etc/env', text, { restart: 'env' }, 0o600)] }))
      const all = await until('all of it', async () => {
        const now = await lines('m', 'env')
        return now.length > 1 && now.at(-1)?.includes('=') === false ? now : undefined
      })
      expect(all).toEqual(expect.arrayContaining(['PLAIN=a b', 'SECRET=s=1"', 'QUOTED=two words', 'LANG=C.UTF-8']))
      const names = all.filter((line) => line.includes('=')).map((line) => line.split('=', 1)[0])
      expect(names.filter((name) => !['PWD', '_', 'OLDPWD', 'SHLVL'].includes(name)).toSorted()).toEqual(
        ['LANG', 'PATH', 'PLAIN', 'QUOTED', 'SECRET', ...under.variables].toSorted(),
      )
      if (isRoot) expect(all.at(-1)).toBe(USER)
    })

    async function started(made: Machine): Promise<Machine> {
      await target.write(made)
      await target.start(made)
      return made
    }

    async function stateOf(machine: string, service: Service['name']): Promise<string | undefined> {
      return (await target.observe()).get(machine)?.services.get(service)?.state
    }
  })
}
