// Who takes longer than anybody waits is given up, and that is a result too: it is told in the tables.

export interface Unfinished {
  readonly phase: 'start' | 'changes'
  readonly seconds: number
  readonly asked: number
  readonly wrong: number
}

export class UnfinishedError extends Error {
  readonly result: Unfinished

  constructor(result: Unfinished) {
    const { phase, seconds, asked, wrong } = result
    super(`${phase}: ${wrong} of ${asked} names are not right after ${seconds.toFixed(0)} s`)
    this.result = result
  }
}
