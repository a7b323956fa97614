// Files by which the system tells about itself: /proc, /sys, /etc. Tests put a directory of their own in the place of `/`.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Empty when it is not there or not for us to see. */
export function hostText(root: string, path: string): string {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return ''
  }
}
