// Virtual machines, really booted (npm run test:vm): the scenario of test/slow/libvirt-lxc.test.ts with one member of etcd on
// macvtap, and a machine that installs its packages by itself. Emulated, so it takes a quarter of an hour on two cores.
// Usage: vm.ts [--scenario] [--install [IMAGE]]
//   IMAGE: a disk to install on, such as a cloud image of Debian, instead of a plain one of our own

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { whyNoLibvirt } from '../support/libvirt-lab.ts'
import { installsPackages } from './vm/install.ts'
import { runScenario } from './vm/scenario.ts'

const problem = whyNoLibvirt()
if (problem !== undefined) throw new Error(problem)
const { values, positionals } = parseArgs({
  options: { scenario: { type: 'boolean' }, install: { type: 'boolean' } },
  allowPositionals: true,
})
const [image] = positionals.map((path) => resolve(path))
if (image !== undefined && !(values.install && existsSync(image)))
  throw new Error(`there is no image ${image} to install on`)
const isAll = values.scenario === undefined && values.install === undefined
if (values.scenario ?? isAll) await runScenario()
if (values.install ?? isAll) await installsPackages(image)
