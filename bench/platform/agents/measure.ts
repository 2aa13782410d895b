import { measureRunLists } from './lists.ts'
import { measureSteps } from './steps.ts'
import { measureWaiting } from './waiting.ts'

interface Options {
  /** Number of measurements of each list, and of rounds of steps. */
  readonly runs: number
  readonly rounds: number
  /** Sections whose name matches: steps, waiting, lists. @default all */
  readonly only: RegExp | undefined
  /** Whether lists have a tenth of the runs. */
  readonly isSmall: boolean
}

/** Measures the runs of agents, on a PostgreSQL of its own. */
export async function measureAgents({ runs, rounds, only = /./, isSmall }: Options): Promise<string> {
  const { default: setUp } = await import('../../../test/kit/run/global-setup.ts')
  const stop = await setUp()
  const sections: Readonly<Record<string, () => Promise<string>>> = {
    steps: () => measureSteps(rounds),
    waiting: measureWaiting,
    lists: () => measureRunLists(runs, isSmall ? 100_000 : 1_000_000),
  }
  const told: string[] = []
  try {
    for (const [name, measure] of Object.entries(sections)) if (only.test(name)) told.push(`### ${name}\n\n${await measure()}`)
  } finally {
    await stop()
  }
  return told.join('\n\n')
}
