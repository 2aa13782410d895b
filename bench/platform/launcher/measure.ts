import { measureQueue } from './queue.ts'
import { measureSearch } from './search.ts'
import { measureWidgets } from './widgets.ts'

interface Options {
  /** Number of measurements of each operation. */
  readonly runs: number
  /** Sections whose name matches: search, queue, widgets. @default all */
  readonly only: RegExp | undefined
}

/** Measures the launcher, on a PostgreSQL of its own. */
export async function measureLauncher({ runs, only = /./ }: Options): Promise<string> {
  const { default: setUp } = await import('../../../test/kit/run/global-setup.ts')
  const stop = await setUp()
  const sections: Readonly<Record<string, () => Promise<string>>> = {
    search: () => measureSearch(runs),
    queue: () => measureQueue(runs),
    widgets: () => measureWidgets(runs),
  }
  const told: string[] = []
  try {
    for (const [name, measure] of Object.entries(sections)) if (only.test(name)) told.push(`### ${name}\n\n${await measure()}`)
  } finally {
    await stop()
  }
  return told.join('\n\n')
}
