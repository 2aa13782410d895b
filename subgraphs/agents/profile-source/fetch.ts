import { isRefusedAddress, OutboundFailure } from '../../../platform/outbound/failure.ts'
import type { Outbound, OutboundAnswer } from '../../../platform/outbound/outbound.ts'
import { inTransaction, type Outcome, step } from '../../store/write.ts'
import type { Fetching, Job } from '../context.ts'
import type { ProfileSourceRow, profileSources, SourceFailure } from '../stores/profile-source.ts'
import { textOfPage } from './page-text.ts'
import { hashOf, most } from './rules.ts'

/** How long whoever fetches an address has for it: a process that died in between is followed by another one then. In ms. */
const heldMs = 60_000
/** How often an address is tried in all, and how long after each time in vain, in ms. */
const pausesMs = [2_000, 15_000] as const
const mostAttempts = pausesMs.length + 1
const mostRedirects = 5
/** How many sources one process fetches at once, and how many for one person, so that slow sites of one person delay nobody else. */
const mostAtOnce = 8
const mostOfOne = 2
const timeoutMs = 8_000

/** What came of an address: its text, why there is none, or null when it may be tried again. */
export type Fetched = { readonly text: string } | { readonly failure: SourceFailure } | { readonly again: SourceFailure }

const failed = (code: SourceFailure['code'], message: string): Fetched => ({ failure: { code, message } })
const later = (message: string): Fetched => ({ again: { code: 'UPSTREAM_FAILED', message } })

/** Fetches an address and reads the text that is there; it follows redirects, each of which must lead to a public place as well. */
export async function fetchText(outbound: Outbound, address: string): Promise<Fetched> {
  let url = new URL(address)
  for (let hop = 0; hop <= mostRedirects; hop += 1) {
    const answer = await outbound(url, { timeoutMs, headers: { accept: 'text/html, text/plain, text/markdown' } }).catch(error => {
      if (error instanceof OutboundFailure) return error
      throw error
    })
    if (answer instanceof OutboundFailure)
      return isRefusedAddress(answer)
        ? failed('ADDRESS_REFUSED', 'The address leads to no public place: give one that everybody can open.')
        : later(`The address could not be read: ${new URL(url).host} does not answer as it should.`)
    const location = answer.status >= 300 && answer.status < 400 ? answer.headers.get('location') : null
    if (location === null) return textOf(answer)
    if (!URL.canParse(location, url)) return failed('UPSTREAM_FAILED', 'The address leads on to one that is none.')
    url = new URL(location, url)
  }
  return failed('UPSTREAM_FAILED', `The address leads on more than ${mostRedirects} times.`)
}

function textOf({ status, headers, text }: OutboundAnswer): Fetched {
  if (status === 429 || status >= 500) return later(`The address was answered with status ${status}.`)
  if (status !== 200) return failed('UPSTREAM_FAILED', `The address was answered with status ${status}: look whether it is right.`)
  const [type] = (headers.get('content-type') ?? '').toLowerCase().split(';')
  const isPage = type === 'text/html' || type === 'application/xhtml+xml'
  if (!isPage && type !== 'text/plain' && type !== 'text/markdown') return failed('NOT_TEXT', 'The address holds neither a page nor plain text.')
  const found = (isPage ? textOfPage(text) : text).replaceAll('\0', '').toWellFormed().trim()
  if (found === '') return failed('EMPTY', 'The address holds a page without words.')
  if (found.length > most.text) return failed('TOO_LARGE', `The text at the address has ${found.length} characters: ${most.text} are the most.`)
  return { text: found }
}

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

/** @param job what it works with, made anew for each piece of work */
export function openFetching(job: () => Job): Fetching {
  let wake = (_ms?: number): void => {}
  let over = false
  /** How many are under way for each person. */
  const underWay = new Map<string, number>()
  const concluding = new Set<Promise<unknown>>()
  const count = (person: string, more: 1 | -1) => {
    const left = (underWay.get(person) ?? 0) + more
    if (left > 0) underWay.set(person, left)
    else underWay.delete(person)
  }

  async function fetch(held: ProfileSourceRow): Promise<void> {
    const present = job()
    try {
      // A source at which several processes died is not tried again.
      const fetched = held.attempts > mostAttempts ? later('The address could not be read.') : await fetchText(present.outbound, held.url!)
      if (over) return
      const concluded = conclude(present, held, fetched)
      concluding.add(concluded)
      const again = await concluded.finally(() => concluding.delete(concluded))
      if (again !== undefined) wake(again)
    } catch (error) {
      present.log.error({ err: error, source: held.id }, 'fetching a source failed; it will be retried in a minute')
    } finally {
      count(held.createdBy, -1)
      wake()
    }
  }

  return {
    soon: ms => wake(ms),
    sweep: {
      name: 'fetch-sources',
      everyMs: 30_000,
      wakes(whenAsked) {
        wake = whenAsked
      },
      // Fetches run beside the sweep: a slow site must not make the sweep count as late.
      async run() {
        const sum = () => underWay.values().reduce((all, each) => all + each, 0)
        while (!over && sum() < mostAtOnce) {
          const busy = [...underWay].filter(([, under]) => under >= mostOfOne).map(([person]) => person)
          const held = await hold(job(), busy)
          if (!held) return
          count(held.createdBy, 1)
          void fetch(held)
        }
      },
    },
    async stop() {
      over = true
      await Promise.allSettled(concluding)
    },
  }
}
