// What runs inside a container.

import type { Guest } from './guest.ts'
import type { Hypervisor } from './hypervisor.ts'

export function containerGuest(hypervisor: Hypervisor, domain: string): Guest {
  return {
    run: (command, { input, timeoutMs }) =>
      hypervisor.enter(domain, command, {
        timeoutMs,
        ...(input === undefined ? {} : { input: Buffer.from(input) }),
      }),
  }
}
