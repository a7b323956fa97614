// A libvirtd that speaks another language, as on a host with a locale of its own and libvirt's translations. Both are made here, so
// that no package is needed: the locale is that of C under another name, and the catalog has what tests make libvirtd say.

import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LibvirtLab } from './libvirt-lab.ts'
import { until } from './until.ts'

const CATALOG: Readonly<Record<string, string>> = {
  'Domain not found: %s': 'Keine solche Domain: %s',
  'Guest agent is not responding: %s': 'Gast-Agent schweigt: %s',
  'QEMU guest agent is not connected': 'Gast-Agent ist nicht verbunden',
  'Requested operation is not valid: %s': 'Das geht gerade nicht: %s',
  'Storage pool not found: %s': 'Keinen solchen Pool gefunden: %s',
  'Storage volume not found: %s': 'Keinen solchen Datenträger gefunden: %s',
  'domain is already running': 'Domain läuft schon',
  'domain is not running': 'Domain läuft nicht',
}

/** From now on `lab` has one; what runs in it goes on. */
export async function translateLibvirt(lab: LibvirtLab): Promise<void> {
  const [locales, catalogs] = ['locales', 'catalogs'].map((name) => join(lab.directory, name))
  cpSync('/usr/lib/locale/C.utf8', join(locales, 'de_DE.utf8'), { recursive: true })
  mkdirSync(join(catalogs, 'de/LC_MESSAGES'), { recursive: true })
  writeFileSync(join(catalogs, 'de/LC_MESSAGES/libvirt.mo'), encodeCatalog(CATALOG))
  await lab.done(['mount', '--bind', catalogs, '/usr/share/locale'])
  await lab.killDaemon()
  await lab.startDaemon({ LOCPATH: locales, LC_ALL: 'de_DE.UTF-8' })
  await until('an answer of libvirtd', async () => (await lab.run(['virsh', '-q', 'version'])).code === 0)
}

/** As gettext reads it: numbers of 32 bits, then the texts, each with a zero after it, sorted. */
function encodeCatalog(translations: Readonly<Record<string, string>>): Buffer {
  const header = ['', 'Content-Type: text/plain; charset=UTF-8\n'] as const
  // Newer versions number what is put in.
  const numbered = (text: string) => text.replace('%s', '%1$s')
  const entries = Object.entries(translations).flatMap((entry) => [entry, entry.map(numbered)])
  const sorted = [...new Map([header, ...entries] as [string, string][])].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const texts = [...sorted.map(([id]) => id), ...sorted.map(([, text]) => text)].map((text) => Buffer.from(`${text}\0`))
  const tableAt = 28
  const numbers = [0x950412de, 0, sorted.length, tableAt, tableAt + sorted.length * 8, 0, 0]
  let at = tableAt + texts.length * 8
  for (const text of texts) {
    numbers.push(text.length - 1, at)
    at += text.length
  }
  return Buffer.concat([Buffer.from(Uint32Array.from(numbers).buffer), ...texts])
}
