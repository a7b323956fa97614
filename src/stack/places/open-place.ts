// The table of targets.

import type { TargetName } from '../stack.ts'
import { LibvirtPlace } from './libvirt-place.ts'
import { LocalPlace } from './local-place.ts'
import type { Place, PlaceContext } from './place.ts'

const PLACES: Readonly<Record<TargetName, (context: PlaceContext) => Place>> = {
  local: (context) => new LocalPlace(context),
  libvirt: (context) => new LibvirtPlace(context),
}

export function openPlace(target: TargetName, context: PlaceContext): Place {
  return PLACES[target](context)
}
