import type { FastifyRequest } from 'fastify'
import { escaped } from '../../subgraphs/http/html.ts'
import type { CoordinateUse } from '../metrics/usage/store.ts'

/** Days whose use the reference shows. */
export const shownDays = 30

/** How long use that was read is shown again, in ms. */
const keptMs = 60_000

/** The use of the graph that the reference shows. */
export interface ShownUse {
  /** Returns use by coordinate and client in the last thirty days. */
  read(coordinates: readonly string[]): Promise<readonly CoordinateUse[]>
  /** Whether a reader may see it. */
  isShownTo(request: FastifyRequest): boolean
}

/** Use in sentences of HTML, by coordinate; null where it cannot be read. */
export type UseSentences = ((coordinate: string) => string) | null

/**
 * Creates the function that reads the use of a page's coordinates, at most once a minute.
 * @param now monotonic clock in ms
 */
export function createUseReader({ read }: ShownUse, now: () => number = () => performance.now()) {
  const kept = new Map<string, { readonly at: number; readonly sentences: Promise<UseSentences> }>()
  return (page: string, coordinates: readonly string[]): Promise<UseSentences> => {
    const known = kept.get(page)
    if (known && now() - known.at < keptMs) return known.sentences
    const sentences = read(coordinates).then(sentencesOf, () => null)
    kept.set(page, { at: now(), sentences })
    return sentences
  }
}

/** Maximum number of clients that are named of one coordinate. */
const shownClients = 20

function sentencesOf(uses: readonly CoordinateUse[]): UseSentences {
  const groups = Map.groupBy(uses, ({ coordinate }) => coordinate)
  return coordinate => {
    const found = groups.get(coordinate)
    if (!found) return `<p class="use">Not used in ${shownDays} days.</p>`
    const count = found.reduce((sum, each) => sum + each.count, 0)
    const last = found.reduce((latest, { lastUsedAt }) => (lastUsedAt > latest ? lastUsedAt : latest), found[0]!.lastUsedAt)
    const clients = found.slice(0, shownClients).map(({ client, version, operations }) => {
      const named = version === 'unknown' ? client : `${client} ${version}`
      return `${escaped(named)} (${escaped(operations.slice(0, 3).join(', '))}${operations.length > 3 ? ', …' : ''})`
    })
    if (found.length > shownClients) clients.push(`and ${found.length - shownClients} more`)
    return `<p class="use">Used ${count} times in ${shownDays} days: ${clients.join(', ')}; last on ${last.toISOString().slice(0, 10)}.</p>`
  }
}
