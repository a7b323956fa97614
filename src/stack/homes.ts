// Which hypervisors the machines of a stack are on, as its file and its record have it.

import type { StackRecord } from './record.ts'
import { machineSpecs, type Stack } from './stack.ts'

export function hypervisorsOf(stack: Stack): string[] {
  return stack.target === 'local' ? [] : [...new Set(machineSpecs(stack).map(({ hardware }) => hardware.hypervisor))]
}

/** By machine. */
export function homesOf(stack: Stack): Record<string, string> {
  if (stack.target === 'local') return {}
  return Object.fromEntries(machineSpecs(stack).map(({ name, hardware }) => [name, hardware.hypervisor]))
}

/** Of machines that may still be there. */
export function homesOn(record: StackRecord | undefined, hypervisors: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(record?.homes ?? {}).filter(([, uri]) => hypervisors.includes(uri)))
}
