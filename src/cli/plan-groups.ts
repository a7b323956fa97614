// Machines to which the same happens, reported once: three etcd members differ in their names and addresses, and so would a
// thousand. What is compared is what would be printed, with every machine's name and address standing for any other.

import type { MachinePlan } from '../stack/plan.ts'

export interface PlanGroup<Line extends { readonly text: string }> {
  /** In the order of the plan; the first stands for all. */
  readonly machines: readonly MachinePlan[]
  /** The details of the first. */
  readonly lines: readonly Line[]
  /** The others' are the same to the letter. */
  readonly isExact: boolean
}

/** In order of their first machines. */
export function groupAlike<Line extends { readonly text: string }>(
  machines: readonly MachinePlan[],
  linesOf: (machine: MachinePlan) => readonly Line[],
  headOf: (machine: MachinePlan) => string = () => '',
): PlanGroup<Line>[] {
  const own = new Set(machines.flatMap(({ machine, address }) => [machine, address]))
  const described = machines.map((plan) => {
    const lines = linesOf(plan)
    return { plan, lines, text: lines.map((line) => line.text).join('\n') }
  })
  const groups = Map.groupBy(described, ({ plan, text }) => {
    const { kind, action, effect } = plan
    return [kind, action, effect, headOf(plan), withoutNames(text, own)].join('\n')
  })
  return [...groups.values()].map((alike) => ({
    machines: alike.map(({ plan }) => plan),
    lines: alike[0].lines,
    isExact: alike.every(({ text }) => text === alike[0].text),
  }))
}

function withoutNames(text: string, names: ReadonlySet<string>): string {
  return text.replaceAll(/\d+(?:\.\d+){3}|[\w-]+/gu, (word) => (names.has(word) ? '*' : word))
}
