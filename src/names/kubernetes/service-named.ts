// A service whose names are worked out, with everything that has a say in it.

import type { Annotations } from './annotations.ts'
import type { EndpointDetails } from './hostname-endpoints.ts'
import type { ObjectProblems } from './object-problems.ts'
import type { Service } from './service-objects.ts'
import type { ServiceRelations } from './service-relations.ts'
import type { SourceSettings } from './source-settings.ts'

export interface NamedService {
  readonly key: string
  readonly service: Service
  readonly annotations: Annotations
  /** What its endpoints have in common. */
  readonly details: EndpointDetails
  readonly settings: SourceSettings
  readonly relations: ServiceRelations
  readonly problems: ObjectProblems
}
