// The supervisor as a program of its own, started as the real one is: `node supervise.ts supervise DIRECTORY`.

import { superviseCommand } from '../../src/cli/supervise.ts'

const controller = new AbortController()
process.once('SIGTERM', () => controller.abort())

process.exitCode = await superviseCommand.run(process.argv.slice(3), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  stopSignal: () => controller.signal,
  onHangup: () => undefined,
})
