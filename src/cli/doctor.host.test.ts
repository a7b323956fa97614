import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { collectingIo, holdfast } from '../../test/support/command-line.ts'
import { needing } from '../../test/support/needing.ts'
import type { Finding } from '../targets/finding.ts'
import { installPackages } from '../targets/local/packages.ts'
import { doctorCommand } from './doctor.ts'

// What is installed here stays as it is.
vi.mock(import('../targets/local/packages.ts'), async (load) => ({
  ...(await load()),
  installPackages: vi.fn<typeof installPackages>(),
}))

let state: string

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'holdfast-doctor-'))
})
afterEach(() => {
  vi.resetAllMocks()
  rmSync(state, { recursive: true })
})

async function doctor(...words: string[]) {
  const { io, printed } = collectingIo()
  const code = await doctorCommand.run(words.includes('--state') ? words : ['--state', state, ...words], io)
  return { code, ...printed }
}

test('without a stack file the host is checked for every kind of machine, and the exit code says whether it will do', async () => {
  const { code, stdout } = await doctor('--json')
  const { ready, findings } = JSON.parse(stdout) as { ready: boolean; findings: Finding[] }
  expect(findings.find(({ check }) => check === 'memory')?.message).toMatch(/ needed for 9 machines$/u)
  const problems = findings.filter((finding) => finding.state === 'problem')
  expect({ code, ready }).toEqual({ code: Math.min(problems.length, 1), ready: problems.length === 0 })
})

test('a state directory that cannot be made is a problem, so that the host is not ready', async () => {
  writeFileSync(join(state, 'file'), '')
  const { code, stdout } = await doctor('--json', '--state', join(state, 'file'))
  const { ready, findings } = JSON.parse(stdout) as { ready: boolean; findings: Finding[] }
  expect(findings.find(({ check }) => check === 'state')?.state).toBe('problem')
  expect({ code, ready }).toEqual({ code: 1, ready: false })
  const printed = await doctor('--state', join(state, 'file'))
  expect(printed.code).toBe(1)
  expect(printed.stdout).toMatch(/\n✗ state .*\nNot ready: .*\n$/su)
})

test('people get a line for each finding, in no colours when it is not for a terminal', async () => {
  const { code, stdout } = await doctor()
  expect(stdout).toMatch(/^✓ system /u)
  expect([stdout.includes('✗ '), /\nNot ready: .*\n$/u.test(stdout), !/\nReady.*\n$/u.test(stdout)]).toEqual(
    new Array(3).fill(code === 1),
  )
  expect(stdout).not.toContain('\u001b')
})

describe('for virtual machines', () => {
  const SILENT = 'qemu+tcp://127.0.0.1:1/system'
  const PATH = process.env.PATH ?? ''
  let file: string

  beforeEach(() => {
    file = join(state, 'stack.yaml')
    const network = 'libvirt_network: { network_name: default, ip: 192.168.122.10 }'
    writeFileSync(
      file,
      `name: kvm\ntarget: libvirt\nhypervisor: ${SILENT}\ndomain: kvm.test\netcd: { members: [{ name: a, volume_id: /x, ${network} }] }\n`,
    )
  })

  const doctorOf = (path: string, ...words: string[]) =>
    holdfast(['doctor', file, '--state', state, ...words], { env: { PATH: path, HOME: state } })

  test('programs that are missing are found, with what brings them', async () => {
    const { code, stdout, stderr } = await doctorOf('/nowhere')
    expect(stdout).toContain('✗ programs  not installed: virsh, xorriso\n')
    expect(stdout).toContain('→ apt-get install libvirt-clients xorriso\n')
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  })

  test('with --fix they are installed before anything is looked at', async () => {
    const bin = join(state, 'bin')
    vi.mocked(installPackages).mockImplementation(async () => {
      mkdirSync(bin)
      const script =
        "#!/bin/sh\nprintf 'error: failed to connect to the hypervisor\\nerror: no answer\\n' >&2; exit 1\n"
      for (const name of ['virsh', 'xorriso']) writeFileSync(join(bin, name), script, { mode: 0o755 })
    })
    const { code, stdout } = await doctorOf(bin, '--fix')
    expect(vi.mocked(installPackages).mock.calls[0][0]).toEqual(['libvirt-clients', 'xorriso'])
    expect(stdout).toContain('✓ programs    virsh, xorriso\n')
    expect(stdout).toMatch(/✗ hypervisor  Cannot read .* on qemu\+tcp:.*: no answer\n/u)
    expect(code).toBe(1)
  })

  needing('virsh', 'xorriso').test('a hypervisor that does not answer is found, with what to look at', async () => {
    const { code, stdout, stderr } = await doctorOf(PATH)
    expect(stdout).toMatch(
      /✗ hypervisor  Cannot read .* on qemu\+tcp:\/\/127\.0\.0\.1:1\/system: .*Connection refused\n/u,
    )
    expect(stdout).toContain('→ see whether libvirtd (or virtqemud) runs there and the address is right')
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  })
})
