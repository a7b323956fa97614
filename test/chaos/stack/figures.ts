// What events have cost, for the table at the end.

import type { Election } from '../../support/primary-names.ts'
import { columns } from '../journal.ts'

export interface Figures {
  /** Until what was done was done. */
  readonly lastedSeconds: number
  /** From then on until everything was ready, and writes were acknowledged. */
  readonly recoverySeconds: number
  readonly gapSeconds: number
  readonly elections: readonly Election[]
}

export class FigureTable {
  readonly #servers: readonly string[]
  readonly #byEvent = new Map<string, Figures[]>()

  constructor(servers: readonly string[]) {
    this.#servers = servers
  }

  add(event: string, figures: Figures): void {
    this.#byEvent.set(event, [...(this.#byEvent.get(event) ?? []), figures])
  }

  /** The largest of each kind. */
  lines(): string[] {
    const header = ['event', 'times', 'lasted s', 'then ready after s', 'write gap s', 'elections', 'name behind by ms']
    const all = [...this.#byEvent.values()].flat()
    return columns([
      header,
      ...[...this.#byEvent].map(([event, figures]) => this.#row(event, figures)),
      this.#row('all', all),
    ])
  }

  #row(event: string, figures: readonly Figures[]): string[] {
    const most = (of: (figures: Figures) => number) => Math.max(0, ...figures.map(of)).toFixed(1)
    const elections = figures.flatMap((each) => each.elections)
    return [
      event,
      String(figures.length),
      most(({ lastedSeconds }) => lastedSeconds),
      most(({ recoverySeconds }) => recoverySeconds),
      most(({ gapSeconds }) => gapSeconds),
      String(elections.length),
      elections.length === 0 ? '' : this.#servers.map((server) => `${server} ${longest(elections, server)}`).join(', '),
    ]
  }
}

function longest(elections: readonly Election[], server: string): string {
  const delays = elections.flatMap(({ delays: all }) => all.get(server) ?? [])
  return delays.length === 0 ? '–' : String(Math.round(Math.max(...delays)))
}
