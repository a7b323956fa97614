// What cloud-init gets of a machine: three texts on a volume labelled `cidata` (NoCloud). A pure function of the machine
// and its place.

import type { Content } from '../../../machine/content.ts'

export interface CloudInit {
  readonly userData: Content
  readonly metaData: string
  readonly networkConfig: string
}
