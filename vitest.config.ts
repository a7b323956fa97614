import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // Minutes each: npm run test:slow
    include:
      process.env.SLOW === '1'
        ? ['test/slow/**/*.test.ts']
        : ['src/**/*.test.ts', 'test/!(slow)/**/*.test.ts', 'test/*.test.ts'],
    // Needs CoreDNS: npm run test:side-by-side
    exclude: process.env.SIDE_BY_SIDE === '1' ? [] : ['test/side-by-side/**'],
    testTimeout: 20_000,
    pool: 'forks',
    // They wait for real clusters more than they compute.
    maxWorkers: 3,
    // Real clusters on a machine that others may use, too: there, once more before nothing lands. The report names them.
    retry: process.env.CI === undefined ? 0 : 1,
  },
})
