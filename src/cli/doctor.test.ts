import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { collectingIo } from '../../test/support/command-line.ts'
import type { Finding } from '../targets/finding.ts'
import { doctorCommand } from './doctor.ts'

let state: string

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'holdfast-doctor-'))
})
afterEach(() => rmSync(state, { recursive: true }))

async function doctor(...words: string[]) {
  const { io, printed } = collectingIo()
  const code = await doctorCommand.run(['--state', state, ...words], io)
  return { code, ...printed }
}

test('without a stack file the host is checked for every kind of machine, and the exit code says whether it will do', async () => {
  const { code, stdout } = await doctor('--json')
  const { ready, findings } = JSON.parse(stdout) as { ready: boolean; findings: Finding[] }
  expect(findings.find(({ check }) => check === 'memory')?.message).toMatch(/ wanted for 9 machines$/u)
  expect(ready).toBe(findings.every((finding) => finding.state !== 'problem'))
  expect(code).toBe(ready ? 0 : 1)
})

test('people get a line for each finding, in no colours when it is not for a terminal', async () => {
  const { code, stdout } = await doctor()
  expect(stdout).toMatch(/^✓ system /u)
  expect(stdout).toMatch(code === 0 ? /\nReady.*\n$/u : /\nNot ready: .*\n$/u)
  expect(stdout).not.toContain('\u001b')
})
