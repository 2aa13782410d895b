import { inTransaction, type Outcome, step } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import { type Fetched, fetchText, later } from '../../engines/page/fetch.ts'
import { openRounds, type Rounds } from '../../engines/page/rounds.ts'
import type { ProfileSourceRow, profileSources } from '../../stores/profile-source.ts'
import { hashOf, most } from './rules.ts'

/** How long whoever fetches an address has for it: a process that died in between is followed by another one then. In ms. */
const heldMs = 60_000
/** How often an address is tried in all, and how long after each time in vain, in ms. */
const pausesMs = [2_000, 15_000] as const
const mostAttempts = pausesMs.length + 1
/** How many sources one process fetches at once, and how many for one person. */
const limits = { maxAtOnce: 8, maxOfOne: 2 } as const

/**
 * Takes the source whose turn it is. A source is claimed until a stored time before it is fetched, so that one process fetches it and
 * another follows a dead one.
 * @param without people whose sources are skipped
 */
const hold = (job: Job, without: readonly string[]): Promise<ProfileSourceRow | null> =>
  inTransaction(job, async ({ transaction, now }) => {
    const due = await job.profileSources.lockDue(now, without, transaction)
    if (!due) return null
    return job.profileSources.update(due, { fetchAt: new Date(now.getTime() + heldMs), attempts: due.attempts + 1 }, transaction)
  })

/** Writes down what came of a source that is held. @returns when it is to be tried again in ms; undefined: it has ended */
async function conclude(job: Job, held: ProfileSourceRow, fetched: Fetched): Promise<number | undefined> {
  const { profileSources: sources, clock } = job
  const pause = 'again' in fetched ? pausesMs[held.attempts - 1] : undefined
  await step(job, {
    of: sources,
    hold: held.id,
    decide(source, unit): Outcome<typeof profileSources, void> | null {
      if (source.status !== 'PROCESSING' || source.attempts !== held.attempts) return null
      if (pause !== undefined) return { changes: { fetchAt: new Date(clock.now().getTime() + pause) } }
      if ('text' in fetched) {
        const ready: Partial<ProfileSourceRow> = { status: 'READY', contentHash: hashOf(fetched.text), fetchAt: null }
        return { changes: ready, isNews: true, along: () => sources.writeText(source, fetched.text, unit.transaction) }
      }
      const failure = 'failure' in fetched ? fetched.failure : fetched.again
      return { changes: { status: 'FAILED', failure, fetchAt: null }, isNews: true }
    },
  })
  return pause
}

/** Opens the fetching of sources. @param job what it works with, made anew for each piece of work */
export const openFetching = (job: () => Job): Rounds =>
  openRounds<ProfileSourceRow, Fetched>({
    name: 'fetch-sources',
    everyMs: 30_000,
    ...limits,
    partyOf: ({ createdBy }) => createdBy,
    hold: without => hold(job(), without),
    // A source at which several processes died is not tried again.
    find: async held => (held.attempts > mostAttempts ? later('The address could not be read.') : fetchText(job().outbound, held.url!, most.text)),
    conclude: (held, fetched) => conclude(job(), held, fetched),
    report: (error, held) => job().log.error({ err: error, source: held.id }, 'fetching a source failed; it will be retried in a minute'),
  })
