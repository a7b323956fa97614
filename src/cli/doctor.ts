// `holdfast doctor`: whether this host can run a stack, and what is missing. With --fix it installs what is missing and
// then looks again.

import { isProblem } from '../targets/finding.ts'
import { installPackages } from '../targets/local/packages.ts'
import { makeSystemUser, OWN_USER } from '../targets/local/system-user.ts'
import { hasColour } from './colour.ts'
import { command, type Io } from './command.ts'
import { EXIT } from './exit-code.ts'
import { chooseSubject, type DoctorSubject } from './doctor-subject.ts'
import { formatFindings } from './doctor-table.ts'
import { passedEnv } from './passed-env.ts'
import { isRoot, stackOptions } from './stack-choice.ts'

export const doctorCommand = command({
  name: 'doctor',
  summary: "Check this host's prerequisites and suggest fixes",
  usage: '[FILE] [--fix] [--json]',
  positionals: ['[FILE]'],
  options: {
    ...stackOptions,
    fix: { summary: 'install missing packages and make the user that name servers run as; needs root' },
    json: { summary: 'print what was found as JSON' },
  },
  async run(args, io) {
    const { fix, json } = args.options
    const signal = io.stopSignal()
    const subject = await chooseSubject(args, io)
    if (fix) await fixHost(subject, io, signal)
    const findings = await subject.check(signal)
    const isReady = !findings.some(isProblem)
    if (json) io.stdout.write(`${JSON.stringify({ ready: isReady, findings }, undefined, 2)}\n`)
    else io.stdout.write(formatFindings(findings, hasColour(io, io.stdout)))
    return isReady ? EXIT.done : EXIT.failed
  },
})

async function fixHost({ needs }: DoctorSubject, io: Io, signal: AbortSignal): Promise<void> {
  const onProgress = (step: string) => io.stderr.write(`packages: ${step}\n`)
  await installPackages(needs.packages, { isRoot: isRoot(), signal, env: passedEnv(io.env), onProgress })
  if (isRoot() && needs.users.includes(OWN_USER)) await makeSystemUser(OWN_USER, signal)
}
