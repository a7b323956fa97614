// Ours, from this checkout.

import { join } from 'node:path'
import type { Peer } from './peer.ts'
import { run } from '../processes.ts'

export const holdfast: Peer = {
  title: 'Holdfast',
  settings: '`holdfast dns --zones DIR --listen ADDRESS:PORT --workers 1`',
  async locate() {
    return join(import.meta.dirname, '../../bin/holdfast')
  },
  async version(program) {
    const { stdout } = await run(program, ['--version'])
    return /^holdfast (\S+)/.exec(stdout)?.[1] ?? 'unknown'
  },
  async prepare(program, { zones, port, workers }) {
    const listen = `127.0.0.1:${port}`
    return {
      file: program,
      args: ['dns', '--zones', zones.directory, '--listen', listen, '--workers', String(workers)],
    }
  },
}
