import type { ChunkHit, chunkStore, Term, Weight } from '../../stores/knowledge/chunk.ts'
import { queryOf } from '../../stores/knowledge/chunk.ts'
import type { DocumentRow, documentStore } from '../../stores/knowledge/document.ts'
import type { KnowledgeSourceRow, knowledgeSourceStore, Visibility } from '../../stores/knowledge/knowledge-source.ts'

type Opened<S extends { open(...given: never[]): unknown }> = ReturnType<S['open']>

/** Stores that a search reads. */
export interface Searching {
  readonly chunks: Opened<typeof chunkStore>
  readonly documents: Pick<Opened<typeof documentStore>, 'byId'>
  readonly knowledgeSources: Pick<Opened<typeof knowledgeSourceStore>, 'byId'>
}

/** What is searched for, and where. */
export interface KnowledgeSearch {
  readonly organizationId: string
  readonly query: string
  /** Ids of sources; null or absent: all of the organization. */
  readonly sourceIds?: readonly string[] | null
  /** PUBLIC: public sources only; null or absent: all. */
  readonly visibility?: Visibility | null
  /** Maximum hits. */
  readonly first: number
}

/** A passage that answers a search: `text.slice(start, end) === quote` for the text of its document. */
export interface KnowledgeHit {
  readonly document: DocumentRow
  readonly source: KnowledgeSourceRow
  /** Offsets in UTF-16 code units. */
  readonly start: number
  readonly end: number
  readonly quote: string
  /** Higher is better; comparable within one search. */
  readonly score: number
}

/** Maximum characters of a question, and words of it that count. */
export const limits = { query: 4_000, terms: 32, first: 50 } as const

/** Number of chunks that may be ranked for frequent words: rarer words select them. */
const maxRanked = 4_000
/** Shortest word for which similar ones are searched, and most such words of one question. */
const alike = { shortest: 5, words: 4 } as const
/** Share of a rare word's weight that a similar word has. */
const likeness = 0.05

/**
 * Finds the passages of an organization that answer a question, the best first: words weigh the more the fewer passages
 * have them, and words that no passage has are searched by similarity. A passage is returned only while its document
 * and source confirm it.
 */
export async function searchKnowledge(
  stores: Searching,
  { organizationId, query, sourceIds = null, visibility = null, first }: KnowledgeSearch,
): Promise<KnowledgeHit[]> {
  if (sourceIds?.length === 0) return []
  const filter = { organizationId, sourceIds, visibility }
  const { terms, chunks } = await stores.chunks.terms(filter, query.slice(0, limits.query), limits.terms)
  if (chunks === 0) return []
  const found = terms.filter(({ count }) => count > 0)
  // More than asked for, because outdated chunks are dropped.
  const most = first + 10
  const exact = found.length === 0 ? [] : await stores.chunks.find(filter, selectionOf(found), weigh(found, chunks), most)
  const missing = terms.filter(({ count, lexeme }) => count === 0 && lexeme.length >= alike.shortest).slice(0, alike.words)
  const similar = await Promise.all(missing.map(({ lexeme }) => stores.chunks.findAlike(filter, lexeme, most)))
  const rare = idf(1, chunks)
  const ranked = merge(
    exact,
    similar.flat().map(each => ({ ...each, score: each.score * rare * likeness })),
  )
  return confirm(stores, filter, ranked, first)
}

/** The weight of a word by the share of passages that have it (BM25's). */
export const idf = (count: number, chunks: number): number => Math.log(1 + (chunks - count + 0.5) / (count + 0.5))

const weigh = (terms: readonly Term[], chunks: number): Weight[] => terms.map(({ lexeme, count }) => ({ query: queryOf(lexeme), weight: idf(count, chunks) }))

/** The query that candidates match: the rarest words, and more frequent ones while not too many chunks are ranked. */
export function selectionOf(terms: readonly Term[]): string {
  const rarest = terms.toSorted((one, other) => one.count - other.count)
  const chosen: Term[] = []
  let sum = 0
  for (const term of rarest) {
    if (chosen.length > 0 && sum + term.count > maxRanked) break
    chosen.push(term)
    sum += term.count
  }
  return chosen.map(({ lexeme }) => queryOf(lexeme)).join(' | ')
}

/** Adds up the scores of chunks that were found in several ways. */
function merge(...lists: readonly (readonly ChunkHit[])[]): ChunkHit[] {
  const byPlace = new Map<string, ChunkHit>()
  for (const hit of lists.flat()) {
    const place = `${hit.documentId} ${hit.start}`
    const known = byPlace.get(place)
    byPlace.set(place, known ? { ...known, score: known.score + hit.score } : hit)
  }
  return [...byPlace.values()].sort((one, other) => other.score - one.score)
}

/** Keeps the hits that document and source still confirm. */
async function confirm(
  { documents, knowledgeSources }: Searching,
  { organizationId, visibility }: { readonly organizationId: string; readonly visibility: Visibility | null },
  hits: readonly ChunkHit[],
  first: number,
): Promise<KnowledgeHit[]> {
  const confirmed: KnowledgeHit[] = []
  const looked = await Promise.all(
    hits.map(async hit => ({ hit, document: await documents.byId.load(hit.documentId), source: await knowledgeSources.byId.load(hit.sourceId) })),
  )
  for (const { hit, document, source } of looked) {
    if (confirmed.length === first) break
    if (document?.version !== hit.version || source?.organizationId !== organizationId) continue
    if (visibility !== null && source.visibility !== visibility) continue
    confirmed.push({ document, source, start: hit.start, end: hit.end, quote: hit.text, score: hit.score })
  }
  return confirmed
}
