// Whether a service that runs has to be started anew to be another: only what it was started with counts.

import type { Service } from './machine.ts'

/** Whether a process of the one is as good as one of the other. How it is stopped one day is another question. */
export function isStartedAlike(one: Service, other: Service): boolean {
  return JSON.stringify(waysToStart(one)) === JSON.stringify(waysToStart(other))
}

function waysToStart({ user, command, environment, environmentFiles = [], bindsLowPorts = false }: Service): unknown {
  const variables = Object.entries(environment).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return [user, command, variables, environmentFiles, bindsLowPorts]
}
