import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/kit/run/global-setup.ts'],
    reporters: ['default', './test/kit/run/skipped-reporter.ts'],
    // Node loads our files itself, as in production; through Vite's runner graphql would be loaded twice.
    experimental: { viteModuleRunner: false },
    pool: 'forks',
    isolate: false,
    testTimeout: 60_000,
    // On a machine that others use too a second is not long.
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 120_000,
  },
})
