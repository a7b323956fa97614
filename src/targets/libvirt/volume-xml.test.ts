import { expect, test } from 'vitest'
import { renderVolumeXml } from './volume-xml.ts'

test('a volume over another one names its path and format', () => {
  const backing = {
    pool: 'p',
    name: 'a&b',
    key: '/p/a&b',
    path: '/p/a&b',
    format: 'raw',
    capacityBytes: 1,
    allocationBytes: 1,
  }
  expect(renderVolumeXml({ pool: 'p', name: 'top', format: 'qcow2', capacityBytes: 4096, backing })).toBe(`<volume>
  <name>top</name>
  <capacity unit='bytes'>4096</capacity>
  <allocation unit='bytes'>0</allocation>
  <target><format type='qcow2'/></target>
  <backingStore><path>/p/a&amp;b</path><format type='raw'/></backingStore>
</volume>
`)
})
