// The network interfaces of a host by virsh. Not every libvirt has its driver for interfaces; then its list of devices has them.

import { readInterfaceXml } from './libvirt-xml.ts'
import type { VirshProcess } from './virsh-process.ts'

const ASKED = { action: 'read the network interfaces', timeoutMs: 60_000 }

export async function listHostInterfaces(virsh: VirshProcess, isLocal: boolean): Promise<readonly string[]> {
  if (isLocal) {
    // libvirt says what sysfs has, which may be that of another network namespace than its own.
    const { stdout } = await virsh.run(['cat', '/proc/net/dev'], ASKED.timeoutMs)
    return [...stdout.toString().matchAll(/^\s*(\S+):/gmu)].map(([, name]) => name)
  }
  const [listed] = await virsh.ask([['iface-list', '--all']], ASKED)
  if ('failure' in listed) return listNetworkDevices(virsh)
  return [...listed.output.matchAll(/^\s*(\S+)/gmu)].map(([, name]) => name)
}

export async function listNetworkDevices(virsh: VirshProcess): Promise<readonly string[]> {
  const devices = (await virsh.tell(['nodedev-list', '--cap', 'net'], ASKED)).split(/\s+/u).filter(Boolean)
  const answers = await virsh.ask(
    devices.map((device) => ['nodedev-dumpxml', device]),
    ASKED,
  )
  // One that is gone since it was listed is none.
  return answers.flatMap((answer) => ('failure' in answer ? [] : (readInterfaceXml(answer.output) ?? [])))
}
