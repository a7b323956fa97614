// What was found on this host, for people: a mark and a line for each check, below it what to do.

import { type Finding, isProblem } from '../targets/finding.ts'
import { type Paint, painter } from './colour.ts'
import { printable } from './table.ts'

const MARKS = { ok: '✓', warning: '!', problem: '✗' } as const
const STYLES = { ok: 'green', warning: 'yellow', problem: 'red' } as const

export function formatFindings(findings: readonly Finding[], colour: boolean): string {
  const paint = painter(colour)
  const width = Math.max(0, ...findings.map(({ check }) => check.length))
  const lines = findings.flatMap((finding) => formatFinding(finding, width, paint))
  return `${[...lines, '', summary(findings)].join('\n')}\n`
}

function formatFinding({ check, state, message, fix }: Finding, width: number, paint: Paint): readonly string[] {
  const line = `${paint(STYLES[state], MARKS[state])} ${check.padEnd(width)}  ${printable(message)}`
  return fix === undefined ? [line] : [line, `${' '.repeat(width + 4)}→ ${printable(fix)}`]
}

function summary(findings: readonly Finding[]): string {
  const problems = counted(findings.filter(isProblem).length, 'problem')
  const warnings = counted(findings.filter(({ state }) => state === 'warning').length, 'warning')
  if (problems.length > 0) return `Not ready: ${[...problems, ...warnings].join(', ')}`
  return warnings.length > 0 ? `Ready, with ${warnings.join('')}` : 'Ready'
}

function counted(count: number, word: string): readonly string[] {
  return count === 0 ? [] : [`${count} ${word}${count === 1 ? '' : 's'}`]
}
