import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeVirsh } from '../../../test/support/fake-virsh.ts'
import type { Hypervisor, Volume } from './hypervisor.ts'
import { openHypervisor } from './virsh.ts'

// virsh and its library speak English, the daemon German: what it says is never what is decided by.
const URI = 'qemu+ssh://kvm1/system'
const DENIED = 'Zugriff verweigert: polkit'
const UNREACHABLE = "Verbindung zum Socket '/run/libvirt/virtstoraged-sock' fehlgeschlagen"
const VOLUME: Volume = {
  ...{ pool: 'p', name: 'v', key: '/p/v', path: '/p/v', format: 'raw', capacityBytes: 1, allocationBytes: 0 },
}
const XML = `printf '<volume><name>v</name><key>/p/v</key><capacity>1</capacity><allocation>0</allocation><target><path>/p/v</path><format type="raw"/></target></volume>'`
/** A pool, with the volumes of which `is_there` says so. */
const POOL = `pool-list() { printf 'p\\n'; }
is_there() { false; }
vol-dumpxml() {
  if [ "$3" = --pool ] && [ "$4" != p ]; then no_pool "$4"; elif is_there "$2"; then ${XML}; else no_volume "$2"; fi
}
vol-pool() { if is_there "$2"; then printf 'p\\n'; else no_volume "$2"; fi; }
`
/** Only the volume of a test, not the one that nobody has made. */
const isOurs = '[[ $1 = v || $1 = */v ]]'

let virsh: FakeVirsh
let hypervisor: Hypervisor

beforeEach(() => {
  virsh = new FakeVirsh()
  virsh.answer(URI, '')
  hypervisor = openHypervisor(URI, { signal: new AbortController().signal, env: virsh.env })
})

afterEach(() => virsh.close())

test('a volume is missing when libvirt says of it what it says of one that nobody has made', async () => {
  for (const id of ['v', 'p/v', '/p/v', 'e']) expect(await hypervisor.findVolume(id)).toBeUndefined()
  virsh.answer(URI, POOL)
  for (const id of ['v', 'p/v', '/p/v', 'e', 'other/v']) expect(await hypervisor.findVolume(id)).toBeUndefined()
  expect(virsh.processes(URI)).toBe(9)
})

test('a volume is found by name or by key', async () => {
  virsh.answer(URI, `${POOL} is_there() { [ "$1" = v ]; }`)
  expect(await hypervisor.findVolume('p/v')).toMatchObject(VOLUME)
  virsh.answer(URI, `${POOL} is_there() { [ "$1" = /p/v ]; }`)
  expect(await hypervisor.findVolume('/p/v')).toMatchObject(VOLUME)
})

test.each([
  ['may not be seen', `no_volume_of_ours() { fail "failed to get vol '$1'" '${DENIED}'; }`],
  ['is in a pool that may not be seen', `no_volume_of_ours() { fail "failed to get pool 'p'" '${DENIED}'; }`],
  ['is in a pool that is not active', `no_volume_of_ours() { fail "pool 'p' is not active"; }`],
  ['cannot be described', `no_volume_of_ours() { fail 'Interner Fehler'; }`],
])('a volume that %s is not missing', async (_, failing) => {
  virsh.answer(
    URI,
    `${POOL}${failing}
    ours() { if ${isOurs}; then no_volume_of_ours "$1"; else no_volume "$1"; fi; }
    vol-dumpxml() { if [ "$3" = --pool ] && [ "$4" != p ]; then no_pool "$4"; else ours "$2"; fi; }
    vol-delete() { ours "$2"; }`,
  )
  for (const id of ['p/v', '/p/v'])
    await expect(hypervisor.findVolume(id)).rejects.toMatchObject({ code: 'LibvirtFailed' })
  await expect(hypervisor.deleteVolume(VOLUME)).rejects.toMatchObject({ code: 'LibvirtFailed' })
})

test('of a storage that does not answer no volume is missing', async () => {
  virsh.answer(
    URI,
    `pool-list() { fail 'Failed to list pools' "${UNREACHABLE}"; }
    no_volume() { fail "failed to get vol '$1'" "${UNREACHABLE}"; }
    no_pool() { fail "failed to get pool '$1'" "${UNREACHABLE}"; }`,
  )
  for (const id of ['p/v', '/p/v']) await expect(hypervisor.findVolume(id)).rejects.toThrow(UNREACHABLE)
  await expect(hypervisor.deleteVolume(VOLUME)).rejects.toThrow(UNREACHABLE)
})

test('a volume whose file somebody removed is missing', async () => {
  const gone = `fail "Speicher-Datenträger nicht gefunden: Kein Speicher-Datenträger mit passendem Pfad '/p/v'"`
  virsh.answer(
    URI,
    `${POOL} vol-dumpxml() { if ${isOurs.replaceAll('$1', '$2')}; then ${gone}; else no_volume "$2"; fi; }
    vol-delete() { ${gone}; }`,
  )
  expect(await hypervisor.findVolume('p/v')).toBeUndefined()
  await hypervisor.deleteVolume(VOLUME)
})

test('a volume that is gone, before or while it is deleted, is deleted', async () => {
  virsh.answer(URI, POOL)
  await hypervisor.deleteVolume(VOLUME)
  virsh.answer(URI, `${POOL} vol-delete() { fail 'Failed to delete vol v' 'Speicher-Datenträger nicht gefunden'; }`)
  await hypervisor.deleteVolume(VOLUME)
  expect(virsh.processes(URI)).toBe(2)
  const isInUse = `vol-delete() { fail 'Failed to delete vol v' 'Datenträger in Benutzung'; }`
  virsh.answer(URI, `${POOL} is_there() { ${isOurs}; }; ${isInUse}`)
  await expect(hypervisor.deleteVolume(VOLUME)).rejects.toThrow('Datenträger in Benutzung')
})
