// Builds the image that machines of `npm test` boot from, so that the tests themselves do not have to.

import { whyNoLibvirt } from '../test/support/libvirt-lab.ts'
import { containerRoot } from '../test/support/libvirt-image.ts'

const problem = whyNoLibvirt()
process.stdout.write(`${problem === undefined ? await containerRoot() : `Not built: ${problem}`}\n`)
