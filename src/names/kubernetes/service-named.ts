// A service whose names are worked out, with everything that has a say in it.

import type { Annotations } from './annotations.ts'
import type { EndpointDetails, TargetSet } from './hostname-endpoints.ts'
import type { ObjectProblems } from './object-problems.ts'
import type { HeadlessTargets } from './service-headless.ts'
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
  /** The targets that its annotations give. */
  readonly annotated: readonly string[]
  /** Of a headless service, worked out once. */
  readonly headless: () => HeadlessTargets
  /** What several names of the service lead to, by what it is: worked out once. */
  readonly shared: Map<string, TargetSet>
}
