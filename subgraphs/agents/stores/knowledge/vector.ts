import type { Transaction } from 'sequelize'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import type { Openable } from '../../../store/store.ts'
import type { ChunkFilter, ChunkHit } from './chunk.ts'

/** A document whose passages get vectors. */
export interface EmbeddedDocument {
  readonly documentId: string
  readonly organizationId: string
  readonly sourceId: string
  /** Version of the document. */
  readonly version: number
  readonly attempts: number
}

/** A passage without a vector. */
export interface BarePassage {
  readonly number: number
  readonly version: number
  readonly title: string
  readonly text: string
}

/** A passage's vector as it is stored. */
export interface PassageVector {
  readonly number: number
  readonly signs: string
  readonly bytes: Uint8Array
}

/** A passage whose vector may be near to that of a question. */
export interface NearPassage {
  readonly documentId: string
  readonly number: number
  readonly vector: Uint8Array
}

const state = `t.document_id as "documentId", t.organization_id as "organizationId", t.source_id as "sourceId", t.version, t.attempts`
const enqueue = statement(
  `insert into agents.embedded_documents (document_id, organization_id, source_id, version, model, due_at) values ($1, $2, $3, $4, $5, $6)
   on conflict (document_id) do update set version = excluded.version, model = excluded.model, due_at = excluded.due_at, attempts = 0`,
)
// What was indexed while no model was set, for another model, or by a program that knows no vectors.
const enqueueMissing = statement(
  `insert into agents.embedded_documents as t (document_id, organization_id, source_id, version, model, due_at)
   select d.id, d.organization_id, d.source_id, d.version, $1, $2
     from agents.documents d left join agents.embedded_documents e on e.document_id = d.id
    where e.document_id is null or e.model <> $1 or e.version <> d.version
    order by d.id limit $3
   on conflict (document_id) do update set version = excluded.version, model = excluded.model, due_at = excluded.due_at, attempts = 0
   returning document_id`,
)
// What a program that knows no vectors has left of deleted documents: all that have vectors are among the embedded ones.
const removeOrphans = statement(
  `with gone as (
     delete from agents.embedded_documents t where not exists (select from agents.documents d where d.id = t.document_id) returning document_id),
   vectors as (delete from agents.knowledge_vectors v using gone where v.document_id = gone.document_id)
   delete from agents.knowledge_dimensions d using gone where d.document_id = gone.document_id`,
)
const claim = statement(
  `update agents.embedded_documents t set due_at = $2, attempts = t.attempts + 1
     from (select e.document_id from agents.embedded_documents e where e.due_at <= $1 and e.model = $4 and e.organization_id <> all($3::uuid[])
            order by e.due_at limit 1 for no key update skip locked) due
    where t.document_id = due.document_id returning ${state}`,
)
const bare = statement(
  `select c.number, c.version, d.title, c.text
     from agents.knowledge_chunks c join agents.documents d on d.id = c.document_id and d.version = c.version
    where c.document_id = $1
      and not exists (select from agents.knowledge_vectors v
                       where v.document_id = c.document_id and v.number = c.number and v.version = c.version and v.model = $2)
    order by c.number limit $3`,
)
const write = statement(
  `with made as (
     select c.document_id, c.number, c.organization_id, c.source_id, c.visibility, c.version, n.signs::bit varying as signs, decode(n.bytes, 'base64') as dimensions
       from unnest($4::int[], $5::text[], $6::text[]) as n (number, signs, bytes)
       join agents.knowledge_chunks c on c.document_id = $1 and c.number = n.number and c.version = $2),
   signed as (
     insert into agents.knowledge_vectors (document_id, number, organization_id, source_id, visibility, version, model, signs)
     select document_id, number, organization_id, source_id, visibility, version, $3, signs from made
     on conflict (document_id, number) do update
       set visibility = excluded.visibility, version = excluded.version, model = excluded.model, signs = excluded.signs)
   insert into agents.knowledge_dimensions (document_id, number, source_id, dimensions)
   select document_id, number, source_id, dimensions from made
   on conflict (document_id, number) do update set dimensions = excluded.dimensions`,
)
const reschedule = statement('update agents.embedded_documents set due_at = $3, attempts = $4 where document_id = $1 and version = $2')
const postpone = statement('update agents.embedded_documents set due_at = greatest(due_at, $2) where organization_id = $1 and due_at is not null')
const countOf = statement('select count(*)::int as count from (select from agents.knowledge_vectors where organization_id = $1 limit $2) v')
const has = statement('select exists (select from agents.knowledge_vectors where organization_id = $1 and model = $2) as found')
// The signs of the question are read once, not for each row; and one look-up for each of the nearest, because a join reads the dimensions of all.
const near = statement(
  `with asked as materialized (select $5::text::bit varying as signs),
   near as materialized (
     select v.document_id, v.number from agents.knowledge_vectors v
      where v.organization_id = $1 and v.model = $4 and length(v.signs) = (select length(signs) from asked)
        and ($2::uuid[] is null or v.source_id = any($2::uuid[])) and ($3::text is null or v.visibility = $3)
      order by bit_count(v.signs # (select signs from asked)) limit $6)
   select near.document_id as "documentId", near.number, coalesce((
       select d.dimensions from agents.knowledge_dimensions d where d.document_id = near.document_id and d.number = near.number), '') as vector
     from near`,
)
const passages = statement(
  `select c.document_id as "documentId", c.source_id as "sourceId", c.version, c."start", c."end", c.text, n.score
     from unnest($1::uuid[], $2::int[], $3::float8[]) as n (document_id, number, score)
     join agents.knowledge_chunks c on c.document_id = n.document_id and c.number = n.number
    order by n.score desc, c.document_id, c.number`,
)

/** Vectors of passages: which ones are near to that of a question, and which are still to be made. */
export const vectorStore = {
  open: ({ sequelize }: Parameters<Openable['open']>[0]) => {
    const ask = <Found extends object>(wanted: Parameters<typeof rows>[1], values: readonly unknown[], transaction?: Transaction) =>
      rows<Found>(sequelize, wanted, values, transaction)
    return {
      /** Has the passages of a document get vectors. */
      async enqueue(document: Omit<EmbeddedDocument, 'attempts'>, model: string, now: Date, transaction: Transaction): Promise<void> {
        const { documentId, organizationId, sourceId, version } = document
        await ask(enqueue, [documentId, organizationId, sourceId, version, model, now], transaction)
      },

      /** Has documents without vectors of this model get some, and drops vectors whose document is gone. @returns how many documents */
      async enqueueMissing(model: string, now: Date, most: number): Promise<number> {
        await ask(removeOrphans, [])
        return (await ask(enqueueMissing, [model, now, most])).length
      },

      /** Claims the document that is due next. @param without organizations whose documents are skipped */
      async claim(model: string, now: Date, until: Date, without: readonly string[], transaction: Transaction): Promise<EmbeddedDocument | null> {
        const [due] = await ask<EmbeddedDocument>(claim, [now, until, without, model], transaction)
        return due ?? null
      },

      /** Returns the first passages of a document without a vector of the model. */
      bare: (documentId: string, model: string, most: number): Promise<BarePassage[]> => ask<BarePassage>(bare, [documentId, model, most]),

      /** Writes vectors of passages; nothing for those of another version of the document. */
      async write(documentId: string, version: number, model: string, vectors: readonly PassageVector[], transaction: Transaction): Promise<void> {
        const columns = [
          vectors.map(({ number }) => number),
          vectors.map(({ signs }) => signs),
          vectors.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')),
        ]
        await ask(write, [documentId, version, model, ...columns], transaction)
      },

      /** Sets when the next passages of a document get vectors; null: all have theirs. */
      async reschedule({ documentId, version }: EmbeddedDocument, dueAt: Date | null, attempts: number, transaction: Transaction): Promise<void> {
        await ask(reschedule, [documentId, version, dueAt, attempts], transaction)
      },

      /** Has all waiting documents of an organization wait until a moment. */
      async postpone(organizationId: string, until: Date, transaction: Transaction): Promise<void> {
        await ask(postpone, [organizationId, until], transaction)
      },

      /** Counts the passages of an organization that have a vector, up to a number. */
      async countOf(organizationId: string, most: number): Promise<number> {
        return (await ask<{ count: number }>(countOf, [organizationId, most]))[0]!.count
      },

      /** Whether an organization has vectors of a model. */
      async has(organizationId: string, model: string): Promise<boolean> {
        return (await ask<{ found: boolean }>(has, [organizationId, model]))[0]!.found
      },

      /** Returns the passages whose vectors have most signs in common with that of a question. */
      near: ({ organizationId, sourceIds, visibility }: ChunkFilter, model: string, signs: string, most: number): Promise<NearPassage[]> =>
        ask<NearPassage>(near, [organizationId, sourceIds, visibility, model, signs, most]),

      /** Returns passages with their texts, the best first. */
      passages: (found: readonly { readonly documentId: string; readonly number: number; readonly score: number }[]): Promise<ChunkHit[]> =>
        ask<ChunkHit>(passages, [found.map(({ documentId }) => documentId), found.map(({ number }) => number), found.map(({ score }) => score)]),
    }
  },
}
