// The suites, one project each; CONTRIBUTING.md says which command runs which.

import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Files next to the code that need a program, a right or the network of a host. */
const HOST_TESTS = 'src/**/*.host.test.ts'
/** Fenced blocks of documents, in the order of a page. */
const DOCUMENT_TESTS = 'test/docs.test.ts'

export default defineConfig({
  test: {
    pool: 'forks',
    // Real clusters make tests wait more than compute.
    maxWorkers: 5,
    // Only a test that hangs reaches these: a busy machine may take ten times as long as a quiet one.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Half of what a `holdfast` process costs is reading its own sources; the second one finds them compiled.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/node') },
    // `npm run coverage` measures the unit tests; `-- --project integration` adds those.
    coverage: { include: ['src/**/*.ts'], reporter: ['text-summary', 'html'], reportsDirectory: 'coverage' },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'test/*.test.ts',
            'test/chaos/**/*.test.ts',
            'test/fuzz/**/*.test.ts',
            'test/vectors/**/*.test.ts',
          ],
          exclude: [HOST_TESTS, DOCUMENT_TESTS],
          // Half the time: modules hold no state, so that files can share them.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'integration', include: [HOST_TESTS, 'test/integration/**/*.test.ts'] } },
      { extends: true, test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'] } },
      { extends: true, test: { name: 'docs', include: [DOCUMENT_TESTS] } },
      { extends: true, test: { name: 'slow', include: ['test/slow/**/*.test.ts'] } },
      { extends: true, test: { name: 'side-by-side', include: ['test/side-by-side/**/*.test.ts'] } },
    ],
  },
})
