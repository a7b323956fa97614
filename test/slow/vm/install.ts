// An image of the distribution, and a machine that installs what it needs at its first boot.

import assert from 'node:assert/strict'
import { ArchiveRelay, archiveHosts } from '../../support/archive-relay.ts'
import { plainImage } from '../../support/libvirt-image.ts'
import { LibvirtLab } from '../../support/libvirt-lab.ts'
import { POOL } from '../../support/libvirt-machines.ts'
import { LibvirtStack } from '../../support/libvirt-stack.ts'
import { step } from './step.ts'

const SUBNET = '10.79.0'
const BASE = 'plain.qcow2'
const TIMEOUT_SECONDS = 1200

/** On a plain image of our own unless one is given. */
export async function installsPackages(given: string | undefined): Promise<void> {
  const image = given ?? (await plainImage())
  const lab = await LibvirtLab.start()
  await lab.network({ name: 'outgoing', subnet: SUBNET, forward: 'nat', names: archiveHosts() })
  const relay = await ArchiveRelay.start(lab, `${SUBNET}.1`)
  try {
    await lab.pool(POOL)
    await lab.volume(POOL, BASE, image)
    const stack = new LibvirtStack(lab, 'installs', { timeoutSeconds: TIMEOUT_SECONDS })
    stack.file(`domain: lab.test
accelerator: tcg
base_volume: ${POOL}/${BASE}
volume_pool: ${POOL}
volume_size: 4
cloud_init_volume_pool: ${POOL}
install_dependencies: true
vcpus: 2
memory: 1024
etcd:
  members: [{ name: etcd-1, libvirt_network: { network_name: outgoing, ip: ${SUBNET}.11 } }]`)
    await step('a machine installs its packages, and is healthy', async () => {
      assert.equal((await stack.up()).isReady, true)
      assert.match(await stack.client('etcdctl endpoint health 2>&1'), /is healthy/u)
    })
    await stack.done('down', '--purge', '--yes')
  } finally {
    relay.close()
    await lab.close()
  }
}
