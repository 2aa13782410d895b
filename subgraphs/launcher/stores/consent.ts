import type { Sequelize, Transaction } from 'sequelize'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { lockingStatement, rows, statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, selectList, table, text, truth, uuid } from '../../../platform/sql/table.ts'

export const consentDecisions = table('launcher.consent_decisions', {
  id: uuid.key,
  subjectId: uuid,
  decision: text.of<'ACCEPT' | 'DECLINE' | 'CUSTOM'>(),
  analytics: truth,
  personalization: truth,
  advertising: truth,
  policyVersion: text,
  decidedAt: moment,
  syncState: text.of<'LOCAL' | 'PENDING' | 'SYNCED'>(),
  createdAt: moment,
})

export type ConsentRecord = Row<typeof consentDecisions>
export type NewDecision = Omit<ConsentRecord, 'createdAt'>

/** A browser whose decisions one process sends now. */
export interface HeldSubject {
  readonly subjectId: string
  /** Failures in a row before this turn. */
  readonly attempts: number
  readonly failingSince: Date | null
  /** When it last decided. */
  readonly decidedAt: Date
}

/** When decisions of a browser are sent next; `next` null: not before there is another one. */
export interface TurnEnd {
  readonly attempts: number
  readonly failingSince: Date | null
  readonly next: Date | null
}

/** Stores decisions of browsers, and which of them wait for the consent service. */
export interface ConsentStore {
  /** Returns what a browser last decided; null for one that has decided nothing. */
  latest(subjectId: string, transaction?: Transaction): Promise<ConsentRecord | null>
  /** Keeps others from deciding for the browser until the transaction ends. */
  lock(subjectId: string, transaction: Transaction): Promise<void>
  /** Writes a decision; one that is PENDING is due at once, after those of the browser that a process sends just now. */
  insert(decision: NewDecision, now: Date, transaction: Transaction): Promise<ConsentRecord>
  /** Takes browsers whose decisions are due: until `until` no other process sends any of theirs. */
  take(now: Date, until: Date, limit: number): Promise<readonly HeldSubject[]>
  /** Decisions of a browser that wait for the consent service, oldest first. */
  pending(subjectId: string): Promise<readonly ConsentRecord[]>
  mark(id: string, state: ConsentRecord['syncState']): Promise<void>
  /** Ends the turn of a browser; what was decided meanwhile is due at once. @param known when the last decision was made that the turn knew of */
  release(subjectId: string, end: TurnEnd, known: Date, now: Date): Promise<void>
}

const columns = selectList(consentDecisions, 't')
const lockName = transactionLock('launcher.consent', 1)
const latest = statement(`select ${columns} from launcher.consent_decisions t where t.subject_id = $1 order by t.decided_at desc limit 1`)
const insert = statement(
  `insert into launcher.consent_decisions as t
     (id, subject_id, decision, analytics, personalization, advertising, policy_version, decided_at, sync_state, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${columns}`,
)
const enter = statement(
  `insert into launcher.consent_subjects as s (subject_id, decided_at, next_attempt_at) values ($1, $2, $3)
   on conflict (subject_id) do update set decided_at = excluded.decided_at, next_attempt_at = coalesce($3, s.next_attempt_at)`,
)
const take = lockingStatement(
  `update launcher.consent_subjects s set held_until = $2
    where s.subject_id in (
      select d.subject_id from launcher.consent_subjects d
       where d.next_attempt_at <= $1 and (d.held_until is null or d.held_until <= $1) order by d.next_attempt_at limit $3 for update skip locked)
   returning s.subject_id as "subjectId", s.attempts, s.failing_since as "failingSince", s.decided_at as "decidedAt"`,
)
const pending = statement(`select ${columns} from launcher.consent_decisions t where t.subject_id = $1 and t.sync_state = 'PENDING' order by t.decided_at`)
const mark = lockingStatement('update launcher.consent_decisions set sync_state = $2 where id = $1')
const release = lockingStatement(
  `update launcher.consent_subjects set held_until = null, attempts = $2, failing_since = $3,
     next_attempt_at = case when decided_at > $5 then $6::timestamptz else $4::timestamptz end where subject_id = $1`,
)

/** Opens the decisions about cookies. */
export const openConsent = (sequelize: Sequelize): ConsentStore => ({
  latest: async (subjectId, transaction) => (await rows<ConsentRecord>(sequelize, latest, [subjectId], transaction))[0] ?? null,
  async lock(subjectId, transaction) {
    await rows(sequelize, lockName, [subjectId], transaction)
  },
  async insert(decision, now, transaction) {
    const { id, subjectId, analytics, personalization, advertising, policyVersion, decidedAt, syncState } = decision
    const values = [id, subjectId, decision.decision, analytics, personalization, advertising, policyVersion, decidedAt, syncState, now]
    const [row] = await rows<ConsentRecord>(sequelize, insert, values, transaction)
    await rows(sequelize, enter, [subjectId, decidedAt, syncState === 'PENDING' ? now : null], transaction)
    return row!
  },
  take: (now, until, limit) => rows<HeldSubject>(sequelize, take, [now, until, limit]),
  pending: subjectId => rows<ConsentRecord>(sequelize, pending, [subjectId]),
  async mark(id, state) {
    await rows(sequelize, mark, [id, state])
  },
  async release(subjectId, { attempts, failingSince, next }, known, now) {
    await rows(sequelize, release, [subjectId, attempts, failingSince, next, known, now])
  },
})
