import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [
      // Needs CoreDNS: npm run test:side-by-side
      ...(process.env.SIDE_BY_SIDE === '1' ? [] : ['test/side-by-side/**']),
      // Minutes each: npm run test:slow
      ...(process.env.SLOW === '1' ? [] : ['test/slow/**']),
    ],
    testTimeout: 20_000,
    pool: 'forks',
    maxWorkers: 2,
    // Real clusters on a machine that others may use, too: there, once more before nothing lands. The report names them.
    retry: process.env.CI === undefined ? 0 : 1,
  },
})
