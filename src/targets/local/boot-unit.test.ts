import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BootUnit } from './boot-unit.ts'

let units: string
let calls: string
beforeEach(() => {
  units = mkdtempSync(join(tmpdir(), 'units-'))
  calls = join(units, 'calls')
})
afterEach(() => rmSync(units, { recursive: true }))

/** Writes down what systemctl is asked; `script` is what it does besides. */
function unitOf(directory: string, script = ''): BootUnit {
  const systemctl = ['sh', '-c', `echo "$*" >>'${calls}'; ${script}`, 'systemctl']
  return new BootUnit({ directory, units, systemctl })
}
const asked = () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [])
const PROGRAM = ['/p/node', '--flag=a b', '/p/main.js']

test('a unit is written and enabled once, and starts the supervisor with the program of the stack', async () => {
  const unit = unitOf('/var/lib/holdfast/stacks/lab')
  await unit.install(PROGRAM)
  await unit.install(PROGRAM)
  expect(asked()).toEqual(['daemon-reload', 'enable holdfast-stack-lab.service'])
  expect(readFileSync(join(units, 'holdfast-stack-lab.service'), 'utf8')).toContain(
    '\nExecStart=/p/node "--flag=a b" /p/main.js supervise --detach /var/lib/holdfast/stacks/lab\n',
  )
})

test('a unit of another version is replaced, and one that the user disabled stays disabled', async () => {
  const unit = unitOf('/var/lib/holdfast/stacks/lab')
  writeFileSync(join(units, unit.name), 'of another version')
  await unit.install(PROGRAM)
  expect(asked()).toEqual(['daemon-reload'])
  expect(readFileSync(join(units, unit.name), 'utf8')).toContain('/p/main.js')
})

test('stacks of one name in two state directories have units of their own', () => {
  const names = ['/a/stacks/lab', '/b/stacks/lab', '/var/lib/holdfast/stacks/lab'].map((each) => unitOf(each).name)
  expect(new Set(names).size).toBe(3)
  for (const name of names) expect(name).toMatch(/^holdfast-stack-lab(?:-[0-9a-f]{8})?\.service$/u)
})

test('a removed unit is disabled, stopped and gone; without one nothing is asked', async () => {
  const unit = unitOf('/a/stacks/lab')
  await unit.remove()
  expect(asked()).toEqual([])
  await unit.install(PROGRAM)
  await unit.remove()
  expect(asked().slice(2)).toEqual([`disable --now ${unit.name}`, 'daemon-reload'])
  expect(existsSync(join(units, unit.name))).toBe(false)
})

test('the reason of systemd is reported in one line', async () => {
  const unit = unitOf('/a/stacks/lab', 'echo "Failed to connect to bus" >&2; echo more >&2; exit 1')
  await expect(unit.start()).rejects.toMatchObject({
    code: 'BootUnitFailed',
    message: `Cannot reload-or-restart the unit "${unit.name}": Failed to connect to bus`,
  })
})

test('a unit that could not be enabled is not left behind, so that the next run tries again', async () => {
  const failing = unitOf('/a/stacks/lab', '[ "$1" != enable ]')
  await expect(failing.install(PROGRAM)).rejects.toMatchObject({ code: 'BootUnitFailed' })
  await unitOf('/a/stacks/lab').install(PROGRAM)
  expect(asked().slice(-1)).toEqual([`enable ${failing.name}`])
})
