// A volume to be made, as libvirt wants it: nothing allocated that is not written.

import type { NewVolume } from './hypervisor.ts'
import { xmlText, xmlValue } from './xml-text.ts'

export function renderVolumeXml({ name, format, capacityBytes, backing }: NewVolume): string {
  const below =
    backing === undefined
      ? ''
      : `<backingStore><path>${xmlText(backing.path)}</path><format type='${xmlValue(backing.format)}'/></backingStore>`
  return `<volume>
  <name>${xmlText(name)}</name>
  <capacity unit='bytes'>${capacityBytes}</capacity>
  <allocation unit='bytes'>0</allocation>
  <target><format type='${format}'/></target>
  ${below}
</volume>
`
}
