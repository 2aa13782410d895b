import { outboxOf } from '../../../platform/jobs/facts/outbox.ts'
import type { Reading } from '../../../platform/sql/reading.ts'
import { integer, json, moment, stamps, table, text, texts, truth, uuid } from '../../../platform/sql/table.ts'
import { contextsOf } from '../../../subgraphs/store/context.ts'
import { store } from '../../../subgraphs/store/store.ts'
import type { Viewer } from '../../../subgraphs/viewer.ts'
import { createTestDatabase, type TestDatabase } from '../../kit/database.ts'
import { unbounded } from '../../kit/reading.ts'
import { countStatements } from '../../kit/statements.ts'
import { type BoundTime, boundTime } from '../../kit/time.ts'

export const shelves = table('story.shelves', {
  organizationId: uuid.key,
  id: uuid.key,
  name: text,
  kind: text.of<'OPEN' | 'SHUT'>().or('OPEN'),
  size: integer.or(3),
  isTall: truth.or(false),
  labels: texts.or([]),
  facts: json.maybe,
  closedAt: moment.maybe,
  ...stamps,
})

export const books = table('story.books', { shelfId: uuid, id: uuid.key, title: text, place: integer, ...stamps })
export const letters = table('story.letters', { id: uuid.key, readerId: uuid, organizationId: uuid, ...stamps })
export const rules = table('story.rules', { id: uuid.key, ...stamps })

const stores = {
  shelves: store(
    shelves,
    {
      what: 'shelf',
      tenancy: { by: 'organizationId' },
      lists: {
        all: { below: 'organizationId', order: 'oldest first' },
        latest: { below: 'organizationId', order: 'newest first' },
        closed: { below: 'organizationId', order: 'oldest first', only: 't.closed_at is not null' },
      },
    },
    rows => ({ named: (name: string) => rows.read({ text: 'select id from story.shelves where name = $1' }, [name]) }),
  ),
  books: store(books, {
    what: 'book',
    tenancy: { through: shelves, owner: 'organizationId', by: 'shelfId' },
    manyBy: { shelfId: 't.place desc' },
    lists: { onShelf: { below: 'shelfId', order: 'newest first' } },
  }),
  letters: store(letters, { what: 'letter', tenancy: { where: 't.reader_id = :person and t.organization_id = :organization' } }),
  /** The same letters, as whoever is their reader or of their organization sees them. */
  post: store(letters, { what: 'letter', tenancy: { where: 't.reader_id = :person or t.organization_id = :organization' } }),
  rules: store(rules, { what: 'rule', tenancy: { everybody: 'the house has the same ones for all' } }),
}

const stampColumns = 'version integer not null default 1, created_at timestamptz(3) not null, updated_at timestamptz(3) not null, created_by text not null'

const schema = (keysLike: string) => `
  create schema story;
  create table story.shelves (organization_id uuid, id uuid, name text not null, kind text not null default 'OPEN', size integer not null default 3,
    is_tall boolean not null default false, labels text[] not null default '{}', facts jsonb, closed_at timestamptz(3), ${stampColumns}, primary key (organization_id, id));
  create table story.books (shelf_id uuid not null, id uuid primary key, title text not null, place integer not null, ${stampColumns});
  create table story.letters (id uuid primary key, reader_id uuid not null, organization_id uuid not null, ${stampColumns});
  create table story.rules (id uuid primary key, ${stampColumns});
  create table story.audit_entries (like publishing.audit_entries including all);
  create table story.idempotency_keys (like ${keysLike}.idempotency_keys including all)`

/** A library of no service: stores of every kind, in a schema of their own. */
export async function openLibrary(keysOf: 'organization' | 'caller' = 'organization') {
  const database: TestDatabase = await createTestDatabase({ poolSize: 10 })
  await database.sequelize.query(schema(keysOf === 'organization' ? 'payments' : 'identity'))
  const clock: BoundTime = boundTime()
  const facts = { slug: 'identity', receivers: [], outbox: outboxOf('identity'), log: { info() {} }, wake() {} } as const
  const contexts = contextsOf('story', stores, { house: 'the library' }, { sequelize: database.sequelize, clock }, facts, keysOf)
  return {
    database,
    clock,
    contexts,
    job: contexts.systemContext('librarian'),
    /** What a resolver is handed. */
    open: (viewer: Viewer, reading: Partial<Reading> = {}) => contexts.open(viewer, { ...unbounded, ...reading, requestId: 'request-1' }),
    rows: async <Row extends object>(sql: string, bind: unknown[] = []): Promise<Row[]> => (await database.sequelize.query(sql, { bind }))[0] as Row[],
    statements: async (work: () => Promise<unknown>): Promise<string[]> => (await countStatements(work)).statements,
    async empty() {
      await database.sequelize.query('truncate story.shelves, story.books, story.letters, story.rules, story.audit_entries, story.idempotency_keys')
    },
    [Symbol.asyncDispose]: database.drop,
  }
}

export type Library = Awaited<ReturnType<typeof openLibrary>>
