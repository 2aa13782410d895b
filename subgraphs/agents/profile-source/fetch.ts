import type { Sweep } from '../../../platform/jobs/queue.ts'
import { isRefusedAddress, type Outbound, type OutboundAnswer, OutboundFailure } from '../../../platform/outbound.ts'
import { inTransaction, type Outcome, step } from '../../store/write.ts'
import type { Job } from '../context.ts'
import type { ProfileSourceRow, profileSources, SourceFailure } from '../stores/profile-source.ts'
import { textOfPage } from './page-text.ts'
import { hashOf, most } from './rules.ts'

/** How long whoever fetches an address has for it: a process that died in between is followed by another one then. In ms. */
const heldMs = 60_000
/** How often an address is tried in all, and how long after each time in vain, in ms. */
const pausesMs = [2_000, 15_000] as const
const mostAttempts = pausesMs.length + 1
const mostRedirects = 5
/** How many are fetched before others have their turn. */
const aRound = 20
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
 * Fetches the source whose turn it is. It is held by a time that is written down before it is asked, so that of several processes one
 * asks, and a killed one is followed by another.
 * @returns when it is to be tried again in ms; undefined: it has ended; null: there was none
 */
async function fetchNext(job: Job): Promise<number | undefined | null> {
  const { profileSources: sources, clock, outbound } = job
  const held = await inTransaction(job, async ({ transaction, now }) => {
    const due = await sources.lockDue(now, transaction)
    if (!due) return null
    return sources.update(due, { fetchAt: new Date(now.getTime() + heldMs), attempts: due.attempts + 1 }, transaction)
  })
  if (!held) return null
  // One that several processes died of is not tried by another.
  const fetched = held.attempts > mostAttempts ? later('The address could not be read.') : await fetchText(outbound, held.url!)
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

/** The fetching of sources by their address. */
export interface Fetching {
  readonly sweep: Sweep
  /** Has it begin before its turn: at once, or after so many ms. */
  soon(ms?: number): void
}

/** @param job what it works with, made anew for each piece of work */
export function openFetching(job: () => Job): Fetching {
  let wake = (_ms?: number): void => {}
  return {
    soon: ms => wake(ms),
    sweep: {
      name: 'fetch-sources',
      everyMs: 30_000,
      wakes(whenAsked) {
        wake = whenAsked
      },
      async run() {
        for (let count = 0; count < aRound; count += 1) {
          const again = await fetchNext(job())
          if (again === null) return
          if (again !== undefined) wake(again)
        }
        wake()
      },
    },
  }
}
