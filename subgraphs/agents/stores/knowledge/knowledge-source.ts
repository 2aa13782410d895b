import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import { countByCaller } from '../../../store/usage.ts'
import type { SourceFailure } from '../profile-source.ts'

export type KnowledgeKind = 'TEXT' | 'URL' | 'UPLOAD'
export type KnowledgeStatus = 'PENDING' | 'INDEXING' | 'READY' | 'FAILED'
export type Visibility = 'ORGANIZATION' | 'PUBLIC'

/** An action that a chat offers beside an answer from this source. */
export interface KnowledgeAction {
  readonly kind: 'LINK' | 'DEEP_LINK' | 'FORM'
  readonly label: string
  readonly url: string
  readonly iosUrl: string | null
  readonly androidUrl: string | null
}

export const knowledgeSources = table('agents.knowledge_sources', {
  id: uuid.key,
  organizationId: uuid,
  title: text,
  kind: text.of<KnowledgeKind>(),
  url: text.maybe,
  visibility: text.of<Visibility>(),
  /** The language of its texts; null for one that is not known. */
  language: text.maybe,
  status: text.of<KnowledgeStatus>().or('PENDING'),
  /** Why it FAILED; of a READY one, why its address could not be read again. */
  failure: json.of<SourceFailure>().maybe,
  actions: json.of<readonly KnowledgeAction[]>().or([]),
  /** When it is indexed next; null for never. While a process indexes it: until when it has it. */
  indexAt: moment.maybe,
  attempts: integer.or(0),
  indexedAt: moment.maybe,
  /** When its text was last found to be current. */
  checkedAt: moment.maybe,
  ...stamps,
})

export type KnowledgeSourceRow = Row<typeof knowledgeSources>

const lockDue = statement(
  `select ${selectList(knowledgeSources, 't')} from agents.knowledge_sources t
    where t.index_at <= $1 and t.organization_id <> all($2::uuid[]) order by t.index_at limit 1 for no key update skip locked`,
)
const countOf = statement('select count(*)::int as count from agents.knowledge_sources where organization_id = $1')
const givePending = statement(`insert into agents.knowledge_texts (source_id, text) values ($1, $2) on conflict (source_id) do update set text = excluded.text`)
const pendingOf = statement('select text from agents.knowledge_texts where source_id = $1')
const dropPending = statement('delete from agents.knowledge_texts where source_id = $1')
const publicOnes = statement(`select id from agents.knowledge_sources where organization_id = $1 and visibility = 'PUBLIC'`)

const lockMaking = transactionLock('agents.knowledge_sources')
const writtenToday = countByCaller(knowledgeSources)

/** Queries of knowledge sources only. */
const knowledgeSourceSql = (rows: Rows<typeof knowledgeSources>) => ({
  madeBy: writtenToday(rows),

  /** Counts the sources of an organization. Nobody makes another for it before the transaction ends. */
  async countOf(organizationId: string, transaction: Transaction): Promise<number> {
    await rows.read(lockMaking, [organizationId], transaction)
    const [row] = await rows.read<{ count: number }>(countOf, [organizationId], transaction)
    return row!.count
  },

  /** Returns the ids of an organization's public sources. */
  async publicOf(organizationId: string): Promise<string[]> {
    return (await rows.read<{ id: string }>(publicOnes, [organizationId])).map(({ id }) => id)
  },

  /** Locks a source that is due and unclaimed; null if there is none. @param without organizations whose sources are skipped */
  async lockDue(now: Date, without: readonly string[], transaction: Transaction): Promise<KnowledgeSourceRow | null> {
    const [due] = await rows.read(lockDue, [now, without], transaction)
    return due ?? null
  },

  /** Keeps a text until it is indexed; a later one replaces it. */
  async givePending(sourceId: string, text: string, transaction: Transaction): Promise<void> {
    await rows.read(givePending, [sourceId, text], transaction)
  },

  /** Returns the text that waits to be indexed; null for none. */
  async pendingOf(sourceId: string): Promise<string | null> {
    const [found] = await rows.read<{ text: string }>(pendingOf, [sourceId])
    return found?.text ?? null
  },

  /** Drops the text that waited. */
  async dropPending(sourceId: string, transaction: Transaction): Promise<void> {
    await rows.read(dropPending, [sourceId], transaction)
  },
})

export const knowledgeSourceStore = store(
  knowledgeSources,
  { what: 'knowledge source', tenancy: { by: 'organizationId' }, filters: { visibility: 'eq', status: 'eq' } },
  knowledgeSourceSql,
)
