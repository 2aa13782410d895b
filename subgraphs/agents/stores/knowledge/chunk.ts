import type { Transaction } from 'sequelize'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import type { Openable } from '../../../store/store.ts'
import type { Visibility } from './knowledge-source.ts'

/** A passage of a document; offsets count UTF-16 code units of its text. */
export interface Chunk {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The document that chunks belong to, as the index knows it. */
export interface IndexedDocument {
  readonly id: string
  readonly organizationId: string
  readonly sourceId: string
  readonly title: string
  readonly visibility: Visibility
  readonly searchConfig: string
  /** Version of the document: chunks of another one are not shown. */
  readonly version: number
}

/** Which chunks of an organization a search considers. */
export interface ChunkFilter {
  readonly organizationId: string
  /** Null: all sources. */
  readonly sourceIds: readonly string[] | null
  /** Null: all. */
  readonly visibility: Visibility | null
}

/** A word of a question, and the number of chunks that contain it. */
export interface Term {
  /** The lexeme, as PostgreSQL stems it. */
  readonly lexeme: string
  readonly count: number
}

/** A chunk that a search found. */
export interface ChunkHit extends Chunk {
  readonly documentId: string
  readonly sourceId: string
  readonly version: number
  readonly score: number
}

/** Weighs terms: a query of PostgreSQL and what it counts. */
export interface Weight {
  readonly query: string
  readonly weight: number
}

const insert = statement(
  `insert into agents.knowledge_chunks
     (document_id, number, organization_id, source_id, visibility, version, "start", "end", text, search_config, search)
   select $1, c.number, $2, $3, $4, $5, c."start", c."end", c.text, $6,
          setweight(to_tsvector($6::text::regconfig, $7::text), 'C') || to_tsvector($6::text::regconfig, c.text)
     from unnest($8::int[], $9::int[], $10::int[], $11::text[]) as c (number, "start", "end", text)`,
)
/** Tables of what is shown by its source's visibility, and of all that a document has in them. */
const shown = ['knowledge_chunks', 'knowledge_vectors'] as const
const tables = [...shown, 'knowledge_dimensions'] as const
const removeOfDocuments = tables.map(table => statement(`delete from agents.${table} where document_id = any($1::uuid[])`))
const removeOfSource = [...tables, 'embedded_documents'].map(table => statement(`delete from agents.${table} where source_id = $1`))
const showOfSource = shown.map(table => statement(`update agents.${table} set visibility = $2 where source_id = $1`))

const within = `c.organization_id = $1 and ($2::uuid[] is null or c.source_id = any($2::uuid[])) and ($3::text is null or c.visibility = $3)`
const total = statement(`select count(*)::int as count from agents.knowledge_chunks c where ${within}`)
const configs = statement('select distinct search_config as config from agents.knowledge_chunks where organization_id = $1')
const lexemesOf = statement(`select distinct u.lexeme from unnest($1::text[]) as config, unnest(to_tsvector(config::regconfig, $2)) as u order by 1 limit $3`)
const countOfEach = statement(
  `select w.lexeme, (select count(*)::int from agents.knowledge_chunks c where ${within} and c.search @@ w.query::tsquery) as count
     from unnest($4::text[], $5::text[]) as w (lexeme, query)`,
)
const hit = `c.document_id as "documentId", c.source_id as "sourceId", c.version, c."start", c."end", c.text`
const find = statement(
  `select ${hit}, (
       select coalesce(sum(w.weight * ts_rank(c.search, w.query::tsquery)), 0)
         from unnest($5::text[], $6::float8[]) as w (query, weight) where c.search @@ w.query::tsquery)::float8 as score
     from agents.knowledge_chunks c where ${within} and c.search @@ $4::tsquery
    order by score desc, c.document_id, c.number limit $7`,
)
const findAlike = statement(
  `select ${hit}, agents.word_likeness($4, c.text)::float8 as score
     from agents.knowledge_chunks c where ${within} and agents.has_like_word($4, c.text)
    order by score desc, c.document_id, c.number limit $5`,
)

/** The query of PostgreSQL that one lexeme matches. */
export const queryOf = (lexeme: string): string => `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

/** The search index: chunks of documents, possibly in a database of their own. Whoever uses it shows only what the documents still confirm. */
export const chunkStore = {
  open: ({ sequelize }: Parameters<Openable['open']>[0]) => {
    const ask = <Found extends object>(wanted: Parameters<typeof rows>[1], values: readonly unknown[], transaction?: Transaction) =>
      rows<Found>(sequelize, wanted, values, transaction)
    const limits = ({ organizationId, sourceIds, visibility }: ChunkFilter) => [organizationId, sourceIds, visibility]
    return {
      /** Replaces the chunks of a document; the vectors of the former ones go with them. */
      async replace(document: IndexedDocument, chunks: readonly Chunk[], transaction?: Transaction): Promise<void> {
        for (const each of removeOfDocuments) await ask(each, [[document.id]], transaction)
        const { id, organizationId, sourceId, visibility, version, searchConfig, title } = document
        const columns = [chunks.map((_, at) => at), chunks.map(({ start }) => start), chunks.map(({ end }) => end), chunks.map(({ text }) => text)]
        await ask(insert, [id, organizationId, sourceId, visibility, version, searchConfig, title, ...columns], transaction)
      },

      /** Removes the chunks of a source, with their vectors. */
      async removeOfSource(sourceId: string, transaction?: Transaction): Promise<void> {
        for (const each of removeOfSource) await ask(each, [sourceId], transaction)
      },

      /** Changes who may find the chunks of a source. */
      async showOfSource(sourceId: string, visibility: Visibility, transaction?: Transaction): Promise<void> {
        for (const each of showOfSource) await ask(each, [sourceId, visibility], transaction)
      },

      /** Returns the words of a question as the organization's documents are indexed, with their counts, and the number of all chunks. */
      async terms(filter: ChunkFilter, question: string, most: number): Promise<{ readonly terms: readonly Term[]; readonly chunks: number }> {
        const [[all], known] = await Promise.all([ask<{ count: number }>(total, limits(filter)), ask<{ config: string }>(configs, [filter.organizationId])])
        if (all!.count === 0) return { terms: [], chunks: 0 }
        const lexemes = (await ask<{ lexeme: string }>(lexemesOf, [known.map(({ config }) => config), question, most])).map(({ lexeme }) => lexeme)
        return { terms: await ask<Term>(countOfEach, [...limits(filter), lexemes, lexemes.map(queryOf)]), chunks: all!.count }
      },

      /**
       * Returns the best chunks.
       * @param any  query that every hit matches
       * @param each queries whose ranks are added up by their weights
       */
      find: (filter: ChunkFilter, any: string, each: readonly Weight[], first: number): Promise<ChunkHit[]> =>
        ask<ChunkHit>(find, [...limits(filter), any, each.map(({ query }) => query), each.map(({ weight }) => weight), first]),

      /** Returns chunks with a word like the given one, the most similar first; none where the database lacks pg_trgm. */
      findAlike: (filter: ChunkFilter, word: string, first: number): Promise<ChunkHit[]> => ask<ChunkHit>(findAlike, [...limits(filter), word, first]),
    }
  },
}
