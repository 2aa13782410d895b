import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import RotatingSequencer from './test/kit/run/sequencer.ts'

/** A journey starts a platform and a browser of its own. */
const isJourney = process.env.WEB === '1'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/kit/run/global-setup.ts'],
    reporters: ['default', './test/kit/run/skipped-reporter.ts'],
    // Node loads our files itself, as in production; through Vite's runner graphql would be loaded twice.
    experimental: { viteModuleRunner: false },
    sequence: { sequencer: RotatingSequencer },
    pool: 'forks',
    isolate: false,
    // A third of the time tests wait for a database or another process: on two cores three of them run beside each other.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    testTimeout: isJourney ? 180_000 : 60_000,
    // On a machine that others use too a second is not long.
    expect: { poll: { timeout: isJourney ? 30_000 : 10_000 } },
    hookTimeout: 120_000,
  },
})
