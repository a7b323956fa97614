import { expect, test } from 'vitest'
import { readCapabilitiesXml, readDomainXml, readNetworkXml, readPoolXml, readVolumeXml } from './libvirt-xml.ts'

// As libvirt 9.0 prints it, without devices that nobody asks for.
const RUNNING = `<domain type='qemu' id='2'>
  <name>demo-etcd-1</name>
  <uuid>d359a7c1-ca42-4823-8b40-5a0862a10960</uuid>
  <metadata>
    <o:machine xmlns:o="urn:other">not ours</o:machine>
    <holdfast:machine xmlns:holdfast="urn:holdfast:machine:1">{"a":"&lt;\\"'"}</holdfast:machine>
  </metadata>
  <memory unit='KiB'>98304</memory>
  <currentMemory unit='KiB'>65536</currentMemory>
  <vcpu placement='static' current='1'>2</vcpu>
  <resource>
    <partition>/machine</partition>
  </resource>
  <os>
    <type arch='x86_64' machine='pc-i440fx-7.2'>hvm</type>
  </os>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <disk type='file' device='disk'>
      <driver name='qemu' type='qcow2'/>
      <source file='/images/top.qcow2' index='2'/>
      <backingStore type='file' index='3'>
        <format type='qcow2'/>
        <source file='/images/base.qcow2'/>
        <backingStore/>
      </backingStore>
      <target dev='vda' bus='virtio'/>
    </disk>
    <disk type='block' device='disk'>
      <source dev='/dev/vg/data' index='1'/>
      <target dev='vdb' bus='virtio'/>
    </disk>
    <disk type='volume' device='cdrom'>
      <source pool='seeds' volume='one.iso'/>
      <target dev='sda' bus='sata'/>
    </disk>
    <disk type='file' device='cdrom'>
      <target dev='sdb' bus='sata'/>
      <readonly/>
    </disk>
    <interface type='network'>
      <mac address='52:54:00:aa:BB:01'/>
      <source network='n1' portid='af619258-7de6-4100-a421-3e46b529652f' bridge='brn1'/>
      <target dev='vnet0'/>
    </interface>
  </devices>
</domain>
`

test('a domain that runs', () => {
  expect(readDomainXml(RUNNING)).toEqual({
    name: 'demo-etcd-1',
    uuid: 'd359a7c1-ca42-4823-8b40-5a0862a10960',
    id: '2',
    metadata: `{"a":"<\\"'"}`,
    facts: {
      type: 'qemu',
      vcpus: 1,
      memoryMib: 64,
      maxMemoryMib: 96,
      macs: ['52:54:00:aa:bb:01'],
      disks: ['/images/top.qcow2', '/dev/vg/data', 'seeds/one.iso'],
    },
  })
})

test('a container, which is not ours and does not run', () => {
  const xml = `<domain type='lxc'>
  <name>c1</name>
  <uuid>fe890dae-c327-467d-a33c-f3b32d85fbac</uuid>
  <memory unit='KiB'>131072</memory>
  <currentMemory unit='KiB'>131072</currentMemory>
  <vcpu placement='static'>2</vcpu>
  <devices>
    <filesystem type='mount' accessmode='passthrough'>
      <source dir='/srv/root'/>
      <target dir='/'/>
    </filesystem>
  </devices>
</domain>`
  expect(readDomainXml(xml)).toMatchObject({
    id: undefined,
    metadata: undefined,
    facts: { type: 'lxc', vcpus: 2, memoryMib: 128, maxMemoryMib: 128, macs: [], disks: ['/srv/root'] },
  })
})

test('a network with addresses of both families', () => {
  const xml = `<network connections='1'>
  <name>n1</name>
  <uuid>9be0447a-f660-49af-b7f9-fced0d48fa0e</uuid>
  <forward mode='nat'>
    <nat>
      <port start='1024' end='65535'/>
    </nat>
  </forward>
  <bridge name='brn1' stp='on' delay='0'/>
  <mac address='52:54:00:4f:d7:2f'/>
  <ip address='10.9.0.1' netmask='255.255.240.0'>
    <dhcp>
      <range start='10.9.0.100' end='10.9.0.120'/>
      <host mac='52:54:00:aa:bb:01' ip='10.9.0.5'/>
    </dhcp>
  </ip>
  <ip family='ipv6' address='fd00::1' prefix='64'>
  </ip>
</network>`
  expect(readNetworkXml(xml, true)).toEqual({
    name: 'n1',
    uuid: '9be0447a-f660-49af-b7f9-fced0d48fa0e',
    isActive: true,
    forward: 'nat',
    addresses: [
      { address: '10.9.0.1', prefixLength: 20 },
      { address: 'fd00::1', prefixLength: 64 },
    ],
    ranges: [{ first: '10.9.0.100', last: '10.9.0.120' }],
  })
})

test('an isolated network without addresses', () => {
  const xml = `<network><name>n2</name><uuid>u</uuid><bridge name='virbr1' stp='on' delay='0'/></network>`
  expect(readNetworkXml(xml, false)).toMatchObject({ isActive: false, forward: undefined, addresses: [], ranges: [] })
})

test('a pool, and a volume in it', () => {
  const pool = `<pool type='dir'>
  <name>p1</name>
  <uuid>5b87c3d1-befd-4217-a1b9-1e3d86a01778</uuid>
  <capacity unit='bytes'>270553174016</capacity>
  <allocation unit='bytes'>48822722560</allocation>
  <available unit='bytes'>221730451456</available>
  <source>
  </source>
  <target>
    <path>/images</path>
  </target>
</pool>`
  expect(readPoolXml(pool, true)).toEqual({
    name: 'p1',
    isActive: true,
    type: 'dir',
    path: '/images',
    availableBytes: 221_730_451_456,
  })
  const volume = `<volume type='file'>
  <name>top.qcow2</name>
  <key>/images/top.qcow2</key>
  <capacity unit='bytes'>20971520</capacity>
  <allocation unit='bytes'>200704</allocation>
  <physical unit='bytes'>196616</physical>
  <target>
    <path>/images/top.qcow2</path>
    <format type='qcow2'/>
  </target>
  <backingStore>
    <path>/images/base.qcow2</path>
    <format type='raw'/>
  </backingStore>
</volume>`
  expect(readVolumeXml(volume, 'p1')).toEqual({
    pool: 'p1',
    name: 'top.qcow2',
    key: '/images/top.qcow2',
    path: '/images/top.qcow2',
    format: 'qcow2',
    capacityBytes: 20_971_520,
    allocationBytes: 200_704,
  })
})

test('only types of domains for the processor of the host count, and models of security in force', () => {
  const guest = (arch: string, ...types: string[]) =>
    `<guest><os_type>hvm</os_type><arch name='${arch}'>${types.map((type) => `<domain type='${type}'/>`).join('')}</arch></guest>`
  const xml = `<capabilities>
  <host>
    <cpu><arch>x86_64</arch><model>Broadwell</model></cpu>
    <secmodel><model>apparmor</model><doi>0</doi></secmodel>
    <secmodel><model>dac</model><doi>0</doi><baselabel type='kvm'>+0:+0</baselabel></secmodel>
    <secmodel><model>none</model><doi>0</doi></secmodel>
  </host>
  ${guest('x86_64', 'qemu', 'kvm')}
  ${guest('aarch64', 'qemu', 'hvf')}
</capabilities>`
  expect(readCapabilitiesXml(xml)).toEqual({
    arch: 'x86_64',
    domainTypes: ['qemu', 'kvm'],
    security: ['apparmor', 'dac'],
  })
})
