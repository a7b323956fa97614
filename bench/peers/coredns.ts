// CoreDNS, built by scripts/build-coredns.sh: zones by `auto` with reloading off, no metrics, no log, and `minimal`,
// because its `file` and `auto` add the apex NS records to every positive answer, which the others do not.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Peer } from './peer.ts'
import { run } from '../processes.ts'

export const coredns: Peer = {
  title: 'CoreDNS',
  settings: '`GOMAXPROCS=1 coredns`; `auto` with `reload 0`, `minimal`, no `log`, no `prometheus`',
  async locate() {
    const { stdout, stderr } = await run('bash', [join(import.meta.dirname, '../../scripts/build-coredns.sh')])
    process.stderr.write(stderr)
    return stdout.trim() || undefined
  },
  async version(program) {
    const { stdout } = await run(program, ['-version'])
    return /CoreDNS-(\S+)/.exec(stdout)?.[1] ?? 'unknown'
  },
  async prepare(program, { zones, directory, port, workers }) {
    const file = join(directory, 'Corefile')
    await writeFile(
      file,
      `.:${port} {
  bind 127.0.0.1
  minimal
  auto {
    directory ${zones.directory}
    reload 0
  }
}
`,
    )
    return { file: program, args: ['-quiet', '-conf', file], env: { GOMAXPROCS: String(workers) } }
  },
}
