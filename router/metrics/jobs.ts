import type { WatchJobs } from '../../platform/jobs/jobs.ts'
import type { Figure, Reading } from './figure.ts'

/** How long a count of jobs is reused before it is queried again, in ms. */
const keptMs = 10_000

/**
 * Counts the jobs of every job runner of a process. The count is queried when the metrics are read, and at most every
 * few seconds.
 */
export function watchJobs(now: () => number = () => performance.now()): { readonly watch: WatchJobs; readonly figures: readonly Figure[] } {
  const runners: { readonly subgraph: string; readonly read: () => Promise<readonly Reading[]> }[] = []
  const watch: WatchJobs = (subgraph, count) => {
    let at = Number.NEGATIVE_INFINITY
    let last: Promise<readonly Reading[]> = Promise.resolve([])
    const look = async () => (await count()).map(({ queue, state, jobs }) => ({ labels: { subgraph, queue, state }, value: jobs }))
    runners.push({
      subgraph,
      read() {
        if (now() - at >= keptMs) {
          at = now()
          // If the database is unavailable, only this figure is missing.
          last = look().catch(() => [])
        }
        return last
      },
    })
  }
  return {
    watch,
    figures: [
      {
        name: 'supergraph_jobs',
        help: 'Jobs that wait, run, are tried again or were given up, by subgraph and queue.',
        labels: ['subgraph', 'queue', 'state'],
        read: async () => (await Promise.all(runners.map(({ read }) => read()))).flat(),
      },
    ],
  }
}
