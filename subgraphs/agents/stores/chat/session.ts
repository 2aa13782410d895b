import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, table, text, truth, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

export const chatSessions = table('agents.chat_sessions', {
  id: uuid.key,
  organizationId: uuid,
  clearanceHash: text,
  addressHash: text,
  persona: text,
  turnsTaken: integer.or(0),
  expiresAt: moment,
  startedAt: moment,
  lastTurnAt: moment,
  createdAt: moment,
})

export type ChatSessionRow = Row<typeof chatSessions>

const columns = selectList(chatSessions, 't')
const withClearance = statement(`select ${columns} from agents.chat_sessions t where t.clearance_hash = $1`)
const takeTurn = statement(
  `update agents.chat_sessions t set turns_taken = turns_taken + 1, last_turn_at = $2, persona = $3
    where t.id = $1 and t.turns_taken < $4 and t.expires_at > $2 returning ${columns}`,
)

const sessionSql = (rows: Rows<typeof chatSessions>) => ({
  /** The session that a clearance belongs to. */
  async withClearance(hash: string): Promise<ChatSessionRow | null> {
    const [found] = await rows.read(withClearance, [hash])
    return found ?? null
  },

  /** Takes one turn. @returns null when the session has ended */
  async takeTurn(id: string, persona: string, most: number, now: Date, transaction: Transaction): Promise<ChatSessionRow | null> {
    const [row] = await rows.read(takeTurn, [id, now, persona, most], transaction)
    return row ?? null
  },
})

export const chatSessionStore = store(chatSessions, { what: 'chat session', tenancy: { by: 'organizationId' }, filters: {} }, sessionSql)

/** A source as a visitor is shown it. */
export interface ShownSource {
  readonly title: string
  readonly url: string | null
  readonly quote: string
  readonly documentId: string
}

export const chatTurns = table('agents.chat_turns', {
  id: uuid.key,
  sessionId: uuid,
  organizationId: uuid,
  role: text.of<'USER' | 'AGENT'>(),
  text,
  mode: text.of<'MODEL' | 'EXTRACTIVE'>().maybe,
  sources: json.of<readonly ShownSource[]>().or([]),
  flagged: truth.or(false),
  helpful: truth.maybe,
  comment: text.maybe,
  at: moment,
})

export type ChatTurnRow = Row<typeof chatTurns>

const turnColumns = selectList(chatTurns, 't')
const lastOf = statement(`select ${turnColumns} from agents.chat_turns t where t.session_id = $1 order by t.at desc, t.id desc limit $2`)
const judge = statement(`update agents.chat_turns set helpful = $3, comment = $4 where id = $1 and session_id = $2 and role = 'AGENT' returning id`)

const turnSql = (rows: Rows<typeof chatTurns>) => ({
  /** The last turns of a session, the oldest first. */
  async lastOf(sessionId: string, most: number): Promise<ChatTurnRow[]> {
    return (await rows.read(lastOf, [sessionId, most])).reverse()
  },

  /** Writes down what a visitor thinks of an answer. @returns whether it is one of that session */
  async judge(id: string, sessionId: string, helpful: boolean, comment: string | null): Promise<boolean> {
    return (await rows.read<{ id: string }>(judge, [id, sessionId, helpful, comment])).length > 0
  },
})

export const chatTurnStore = store(
  chatTurns,
  { what: 'chat turn', tenancy: { by: 'organizationId' }, manyBy: { sessionId: 't.at, t.id' }, writtenOften: true },
  turnSql,
)
