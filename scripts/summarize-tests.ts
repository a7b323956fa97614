// One line about a JSON report of vitest: how many tests passed, failed and were skipped, and which failed.
// Usage: scripts/summarize-tests.ts REPORT

import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

const report = JSON.parse(readFileSync(process.argv[2], 'utf8')) as Report
const failed = report.testResults
  .filter(({ status }) => status === 'failed')
  .flatMap(({ name, message, assertionResults }) => {
    const file = relative(process.cwd(), name)
    const tests = assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)
    // A hook that failed has no test of its own.
    return tests.length === 0 ? [`${file}: ${message.split('\n', 1)[0]}`] : tests.map((test) => `${file}: ${test}`)
  })
const { numPassedTests, numFailedTests, numPendingTests } = report
process.stdout.write(`${numPassedTests} ${numFailedTests} ${numPendingTests} ${failed.join('; ')}\n`)
