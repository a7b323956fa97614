// How libvirt is told where a disk is. QEMU refuses a device that is called a file, and a file that is called a device.

import { xmlValue } from './xml-text.ts'

export function isBlockDevice(path: string): boolean {
  return path.startsWith('/dev/')
}

/** Of the element `disk`. */
export function diskType(path: string): 'block' | 'file' {
  return isBlockDevice(path) ? 'block' : 'file'
}

/** `more`: attributes, with a space before each. */
export function diskSource(path: string, more = ''): string {
  return `<source ${isBlockDevice(path) ? 'dev' : 'file'}='${xmlValue(path)}'${more}/>`
}
