import type { ChunkFilter, ChunkHit, chunkStore, Term, Weight } from '../../stores/knowledge/chunk.ts'
import { queryOf } from '../../stores/knowledge/chunk.ts'
import type { DocumentRow, documentStore } from '../../stores/knowledge/document.ts'
import type { KnowledgeSourceRow, knowledgeSourceStore, Visibility } from '../../stores/knowledge/knowledge-source.ts'
import type { vectorStore } from '../../stores/knowledge/vector.ts'
import type { Embedder } from './embedder.ts'
import { fuse, likenessOf, signsOf } from './vectors.ts'

type Opened<S extends { open(...given: never[]): unknown }> = ReturnType<S['open']>

/** Stores that a search reads. */
export interface Searching {
  readonly chunks: Opened<typeof chunkStore>
  readonly documents: Pick<Opened<typeof documentStore>, 'byId'>
  readonly knowledgeSources: Pick<Opened<typeof knowledgeSourceStore>, 'byId'>
  readonly vectors: Pick<Opened<typeof vectorStore>, 'has' | 'near' | 'passages'>
  /** What makes the vector of a question; null: passages are found by their words alone. */
  readonly embedder: Embedder | null
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
  /** The person who asks, to whom the vector of the question is attributed; null or absent: nobody. */
  readonly forUser?: string | null
  /** Whether a model may be asked for that vector. @default true */
  readonly mayEmbed?: boolean
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

/** Passages whose vectors are compared exactly: those with most signs in common with the question's, or all where there are no more. */
const maxCompared = 1_000
/** The least cosine of a passage that is found by its vector: models put unrelated texts below it. */
const leastCosine = 0.25

/**
 * Finds the passages of an organization that answer a question, the best first: by their words, and where a model makes
 * vectors, by these too; a passage that is high in one of both orders is high in the result. A passage is returned only
 * while its document and source confirm it.
 */
export async function searchKnowledge(stores: Searching, search: KnowledgeSearch): Promise<KnowledgeHit[]> {
  const { organizationId, sourceIds = null, visibility = null, first } = search
  if (sourceIds?.length === 0) return []
  const filter = { organizationId, sourceIds, visibility }
  const query = search.query.slice(0, limits.query)
  // More than asked for, because outdated chunks are dropped.
  const most = first + 10
  // Whatever goes wrong with vectors, words answer.
  const near = findByVector(stores, filter, { ...search, query }, most).catch((error: unknown) => {
    stores.embedder?.failed(organizationId, error)
    return []
  })
  const [byWords, byVector] = await Promise.all([findByWords(stores, filter, query, most), near])
  return confirm(stores, filter, byVector.length === 0 ? byWords : fuse([byWords, byVector], placeOf), first)
}

/** Finds passages by their words: they weigh the more the fewer passages have them, and words that no passage has are searched by similarity. */
async function findByWords(stores: Searching, filter: ChunkFilter, query: string, most: number): Promise<ChunkHit[]> {
  const { terms, chunks } = await stores.chunks.terms(filter, query, limits.terms)
  if (chunks === 0) return []
  const found = terms.filter(({ count }) => count > 0)
  const exact = found.length === 0 ? [] : await stores.chunks.find(filter, selectionOf(found), weigh(found, chunks), most)
  const missing = terms.filter(({ count, lexeme }) => count === 0 && lexeme.length >= alike.shortest).slice(0, alike.words)
  const similar = await Promise.all(missing.map(({ lexeme }) => stores.chunks.findAlike(filter, lexeme, most)))
  const rare = idf(1, chunks)
  return merge(
    exact,
    similar.flat().map(each => ({ ...each, score: each.score * rare * likeness })),
  )
}

/** Finds passages whose vectors are near to that of the question; none where there are no vectors. */
async function findByVector(
  { vectors, embedder }: Searching,
  filter: ChunkFilter,
  { organizationId, query, forUser = null, mayEmbed = true }: KnowledgeSearch,
  most: number,
): Promise<ChunkHit[]> {
  if (!embedder || !mayEmbed || query.trim() === '' || !(await vectors.has(organizationId, embedder.model))) return []
  const asked = await embedder.question({ organizationId, forUser, text: query })
  if (!asked) return []
  const candidates = await vectors.near(filter, embedder.model, signsOf(asked), maxCompared)
  const compared = candidates.map(({ documentId, number, vector }) => ({ documentId, number, score: likenessOf(asked, vector) }))
  const near = compared.filter(({ score }) => score >= leastCosine).sort((one, other) => other.score - one.score)
  return near.length === 0 ? [] : vectors.passages(near.slice(0, most))
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

/** What tells passages apart. */
const placeOf = ({ documentId, start }: ChunkHit): string => `${documentId} ${start}`

/** Adds up the scores of chunks that were found in several ways. */
function merge(...lists: readonly (readonly ChunkHit[])[]): ChunkHit[] {
  const byPlace = new Map<string, ChunkHit>()
  for (const hit of lists.flat()) {
    const place = placeOf(hit)
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
