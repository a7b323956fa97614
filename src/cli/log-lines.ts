// Lines of many services together: where each comes from stands in front, aligned and in a colour for each machine.

import { stripVTControlCharacters } from 'node:util'
import type { LogLine } from '../targets/target.ts'
import { painter, type Style } from './colour.ts'
import { printable } from './table.ts'

/** Red is left to errors. */
const STYLES: readonly Style[] = ['cyan', 'yellow', 'green', 'magenta', 'blue']
const TAB = '    '

export function logFormatter(machines: readonly string[], colour: boolean): (line: LogLine) => string {
  const paint = painter(colour)
  const styles = new Map(machines.map((machine, index) => [machine, STYLES[index % STYLES.length]]))
  const machineWidth = Math.max(0, ...machines.map((machine) => machine.length))
  let serviceWidth = 0
  return ({ machine, service, line }) => {
    // Which services there are shows only as they write.
    serviceWidth = Math.max(serviceWidth, service.length)
    const prefix = `${machine.padEnd(machineWidth)}  ${service.padEnd(serviceWidth)} |`
    const text = stripVTControlCharacters(line).replaceAll('\t', TAB).trimEnd()
    return `${paint(styles.get(machine) ?? 'dim', printable(prefix))} ${printable(text)}`.trimEnd().concat('\n')
  }
}
