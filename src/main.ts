// argv in, exit code out. The only file that touches the process: its arguments, environment, signals, streams.

import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { run } from './cli/run.ts'

// Commands are loaded by `run`, and start twice as fast from compiled code. It lies beside the sources, so whoever could spoil it
// could spoil those as well; where we may not write, nothing is kept.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/holdfast'))

// Output cut off by its reader (`holdfast … | head`) is the reader's choice and no failure to report.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`holdfast: Cannot write the output: ${error.message}\n`)
  process.exit(1)
})
// Nobody is left to tell that nobody listens.
process.stderr.on('error', () => undefined)

// No process.exit here: whatever is still being written gets out first.
process.exitCode = await run(process.argv.slice(2), {
  // Looked at only by a command that reads it: a stream once made keeps a terminal's state.
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  stopSignal() {
    const controller = new AbortController()
    const stop = (name: NodeJS.Signals) => {
      process.off('SIGINT', stop).off('SIGTERM', stop)
      controller.abort(name)
    }
    process.on('SIGINT', stop).on('SIGTERM', stop)
    return controller.signal
  },
  onHangup(listener) {
    process.on('SIGHUP', listener)
  },
})
