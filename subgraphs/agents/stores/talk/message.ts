import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import { countByCaller } from '../../../store/usage.ts'

export type MessageStatus = 'STREAMING' | 'COMPLETE' | 'FAILED'

/** A passage of a document, by its place. */
export interface CitedPassage {
  readonly documentId: string
  readonly start: number
  readonly end: number
  readonly quote: string
  readonly score: number
}

export const conversationMessages = table('agents.conversation_messages', {
  conversationId: uuid.key,
  id: uuid.key,
  organizationId: uuid,
  role: text.of<'USER' | 'AGENT'>(),
  text,
  mode: text.of<'MODEL' | 'EXTRACTIVE'>().maybe,
  notice: text.maybe,
  status: text.of<MessageStatus>(),
  failureCode: text.maybe,
  failureMessage: text.maybe,
  hits: json.of<readonly CitedPassage[]>().or([]),
  userId: uuid.maybe,
  wakeAt: moment.maybe,
  claimId: uuid.maybe,
  runId: uuid.maybe,
  /** Of a reply: the message that it answers. */
  answersId: uuid.maybe,
  attempts: integer.or(0),
  ...stamps,
})

export type ConversationMessageRow = Row<typeof conversationMessages>

const columns = selectList(conversationMessages, 't')
const lockDue = statement(
  `select ${columns} from agents.conversation_messages t
    where t.wake_at <= $1 and t.organization_id <> all($2::uuid[]) order by t.wake_at limit 1 for no key update skip locked`,
)
const grow = statement(
  `update agents.conversation_messages t set text = $3, mode = $4, notice = $5, hits = $6, version = version + 1, updated_at = $7, wake_at = $8
    where t.id = $1 and t.claim_id = $2 and t.status = 'STREAMING' and starts_with($3, t.text) returning ${columns}`,
)
const held = statement(
  `select t.claim_id as "claimId" from agents.conversation_messages t where t.id = any($1::uuid[]) and t.claim_id = any($2::uuid[]) and t.status = 'STREAMING'`,
)
const stop = statement(
  `update agents.conversation_messages t
      set status = 'COMPLETE', notice = concat_ws(' ', t.notice, $3::text), failure_code = $4, version = version + 1, updated_at = $5,
          wake_at = null, claim_id = null
    where t.id = $1 and t.role = 'AGENT' and t.status = 'STREAMING' and t.run_id is not distinct from $2::uuid returning ${columns}`,
)
const prolong = statement(`update agents.conversation_messages set wake_at = $3 where id = $1 and claim_id = $2 and status = 'STREAMING'`)
const handOver = statement(
  `update agents.conversation_messages set run_id = $3, wake_at = null, claim_id = null, version = version + 1
    where id = $1 and claim_id = $2 and status = 'STREAMING' returning id`,
)
const take = statement(`update agents.conversation_messages t set claim_id = $2 where t.run_id = $1 and t.status = 'STREAMING' returning ${columns}`)
const endOfRun = statement(
  `update agents.conversation_messages t
      set status = $2, failure_code = $3, failure_message = $4, version = version + 1, updated_at = $5, claim_id = null
    where t.run_id = $1 and t.status = 'STREAMING' returning ${columns}`,
)
const wakeAll = statement(
  `update agents.conversation_messages set wake_at = $2 where id in (
     select id from agents.conversation_messages where organization_id = $1 and wake_at > $2 and claim_id is null for no key update skip locked
   )`,
)
const end = statement(
  `update agents.conversation_messages t
      set status = $3, failure_code = $4, failure_message = $5, version = version + 1, updated_at = $6, wake_at = null, claim_id = null
    where t.id = $1 and t.claim_id = $2 and t.status = 'STREAMING' returning ${columns}`,
)
const before = statement(
  `select ${columns} from agents.conversation_messages t
    where t.conversation_id = $1 and (t.created_at, t.id) < ($2, $3) and t.status = 'COMPLETE' order by t.created_at desc, t.id desc limit $4`,
)
const around = statement(
  `select ${columns} from agents.conversation_messages t where t.conversation_id = $1 and t.created_at <= $2 order by t.created_at desc, t.id desc limit $3`,
)
const answered = statement(`select ${columns} from agents.conversation_messages t where t.conversation_id = $1 and t.id = $2`)
const present = statement(`select ${columns} from agents.conversation_messages t where t.conversation_id = $1 order by t.created_at desc, t.id desc limit 1`)
const changedSince = statement(
  `select ${columns} from agents.conversation_messages t where t.organization_id = $1 and t.updated_at >= $2 order by t.updated_at limit 1000`,
)
const writtenToday = countByCaller(conversationMessages)

/** Stands as the failure's code of a reply that is COMPLETE because somebody stopped it. */
export const stoppedCode = 'STOPPED'

/** What a reply has come to. */
export type Grown = Pick<ConversationMessageRow, 'text' | 'mode' | 'notice' | 'hits'>

const messageSql = (rows: Rows<typeof conversationMessages>) => ({
  /** Locks a reply that is to be begun or taken over; null if there is none. @param without organizations that have enough under way */
  async lockDue(now: Date, without: readonly string[], transaction: Transaction): Promise<ConversationMessageRow | null> {
    const [due] = await rows.read(lockDue, [now, without], transaction)
    return due ?? null
  },

  /** Writes what a reply has come to: its text only grows. @param until when it may be taken over; null: a run sees to it @returns null for whoever does not hold it any more */
  async grow(
    { id, claimId }: Pick<ConversationMessageRow, 'id' | 'claimId'>,
    { text: grown, mode, notice, hits }: Grown,
    { now, until }: { readonly now: Date; readonly until: Date | null },
  ): Promise<ConversationMessageRow | null> {
    const [row] = await rows.read(grow, [id, claimId, grown, mode, notice, JSON.stringify(hits), now, until])
    return row ?? null
  },

  /** Returns the claims of those replies that are still held by whoever holds them here. */
  async held(replies: readonly Pick<ConversationMessageRow, 'id' | 'claimId'>[]): Promise<ReadonlySet<string>> {
    const claims = replies.flatMap(({ claimId }) => claimId ?? [])
    const found = await rows.read<{ claimId: string }>(held, [replies.map(({ id }) => id), claims])
    return new Set(found.map(({ claimId }) => claimId))
  },

  /**
   * Ends a reply with what it has: nobody writes more of it.
   * @param notice says who stopped it, behind what the reader is to know besides
   * @returns null where it has ended, or was handed over to a run meanwhile
   */
  async stop(
    { id, runId }: Pick<ConversationMessageRow, 'id' | 'runId'>,
    notice: string,
    { now, transaction }: { readonly now: Date; readonly transaction: Transaction },
  ): Promise<ConversationMessageRow | null> {
    const [row] = await rows.read(stop, [id, runId, notice, stoppedCode, now], transaction)
    return row ?? null
  },

  /** Keeps others from taking over a reply. */
  async prolong({ id, claimId }: Pick<ConversationMessageRow, 'id' | 'claimId'>, until: Date): Promise<void> {
    await rows.read(prolong, [id, claimId, until])
  },

  /** Hands a reply over to a run that writes it. @returns whether it was still held */
  async handOver({ id, claimId }: Pick<ConversationMessageRow, 'id' | 'claimId'>, runId: string, transaction: Transaction): Promise<boolean> {
    return (await rows.read<{ id: string }>(handOver, [id, claimId, runId], transaction)).length > 0
  },

  /** Takes the reply of a run for one call: whoever wrote it before writes no more. @returns null once it has ended */
  async take(runId: string, claimId: string): Promise<ConversationMessageRow | null> {
    const [row] = await rows.read(take, [runId, claimId])
    return row ?? null
  },

  /** Ends the reply of a run. @returns null where there is none that is open */
  async endOf(
    runId: string,
    { status, failure }: { readonly status: MessageStatus; readonly failure: { readonly code: string; readonly message: string } | null },
    now: Date,
    transaction: Transaction,
  ): Promise<ConversationMessageRow | null> {
    const [row] = await rows.read(endOfRun, [runId, status, failure?.code ?? null, failure?.message ?? null, now], transaction)
    return row ?? null
  },

  /** Has every reply of an organization begun that was put off, unless it is just being put off. */
  async wakeAll(organizationId: string, at: Date, transaction: Transaction): Promise<void> {
    await rows.read(wakeAll, [organizationId, at], transaction)
  },

  /** Ends a reply. @returns null for whoever does not hold it any more */
  async end(
    { id, claimId }: Pick<ConversationMessageRow, 'id' | 'claimId'>,
    { status, failure }: { readonly status: MessageStatus; readonly failure: { readonly code: string; readonly message: string } | null },
    now: Date,
  ): Promise<ConversationMessageRow | null> {
    const [row] = await rows.read(end, [id, claimId, status, failure?.code ?? null, failure?.message ?? null, now])
    return row ?? null
  },

  /** Returns the messages around a message and before it, whatever became of them, the oldest first. */
  async around({ conversationId, createdAt }: ConversationMessageRow, most: number): Promise<ConversationMessageRow[]> {
    // Replies are of the millisecond after what they answer.
    return (await rows.read(around, [conversationId, new Date(createdAt.getTime() + 1), most])).reverse()
  },

  /** The message that a reply answers; replies of earlier versions answer the one before them. */
  async answered(reply: ConversationMessageRow): Promise<ConversationMessageRow | null> {
    const { conversationId, createdAt, id, answersId } = reply
    const [said] = await (answersId === null ? rows.read(before, [conversationId, createdAt, id, 1]) : rows.read(answered, [conversationId, answersId]))
    return said ?? null
  },

  /** The last message of a conversation, for whoever may see that. */
  async lastOf(conversationId: string): Promise<ConversationMessageRow | null> {
    const [last] = await rows.read(present, [conversationId])
    return last ?? null
  },

  /** Messages of an organization that were changed since, the earliest first, a thousand at most. */
  changedSince: (organizationId: string, since: Date): Promise<ConversationMessageRow[]> => rows.read(changedSince, [organizationId, since]),

  madeBy: writtenToday(rows),
})

export const conversationMessageStore = store(
  conversationMessages,
  {
    what: 'message',
    tenancy: { by: 'organizationId' },
    lists: { ofConversation: { below: 'conversationId', order: 'oldest first' } },
    writtenOften: true,
  },
  messageSql,
)
