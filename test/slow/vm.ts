// Virtual machines, really booted (npm run test:vm): the scenario of test/integration/libvirt-lxc.test.ts with one member of etcd on
// macvtap, and a machine that installs its packages by itself. Emulated, so it takes a quarter of an hour on two cores.
// Usage: vm.ts [--scenario] [--install]

import { whyNoLibvirt } from '../support/libvirt-lab.ts'
import { installsPackages } from './vm/install.ts'
import { runScenario } from './vm/scenario.ts'

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  '--scenario': runScenario,
  '--install': installsPackages,
}

const problem = whyNoLibvirt()
if (problem !== undefined) throw new Error(problem)
const asked = process.argv.slice(2)
const unknown = asked.find((name) => !Object.hasOwn(PARTS, name))
if (unknown !== undefined) throw new Error(`unknown part "${unknown}"; known: ${Object.keys(PARTS).join(' ')}`)
for (const [name, run] of Object.entries(PARTS)) if (asked.length === 0 || asked.includes(name)) await run()
