import type { Sequelize, Transaction } from 'sequelize'
import type { Cipher } from '../../../platform/cipher.ts'
import { lockingStatement, rows, statement } from '../../../platform/sql/statement.ts'
import { dueInTurns } from '../../../platform/sql/turns.ts'
import type { SealedColumn } from '../../store/sealed.ts'

/** A mail that waits for its handover. */
export interface QueuedMail {
  readonly id: string
  readonly kind: string
  readonly organizationId: string | null
  readonly sealed: string
  /** Handovers so far, the present one included. */
  readonly attempts: number
}

/** What became of a handover; `next` null: nothing more follows. */
export interface HandedOver {
  readonly messageId: string | null
  readonly next: Date | null
}

/** Keeps mails of the launcher until providers have taken them. */
export interface MailOutbox {
  /** Writes a mail down. @returns false for a key that was queued before: then nothing is written */
  insert(
    mail: Omit<QueuedMail, 'sealed' | 'attempts'> & { readonly key: string; readonly content: string },
    now: Date,
    transaction: Transaction,
  ): Promise<boolean>
  /** Takes due mails for this process, those of each organization in turns: until `until` no other hands them over. */
  take(now: Date, until: Date, limit: number, perOrganization: number): Promise<readonly QueuedMail[]>
  /** Decrypts the content of a mail. @throws Error while its key is not configured */
  contentOf(mail: Pick<QueuedMail, 'id' | 'sealed'>): string
  settle(id: string, outcome: HandedOver): Promise<void>
}

const insert = statement(
  `insert into launcher.mails (id, key, kind, organization_id, sealed, next_attempt_at, created_at) values ($1, $2, $3, $4, $5, $6, $6)
   on conflict (key) do nothing returning id`,
)
const turns = dueInTurns(
  {
    table: 'launcher.mails',
    party: "coalesce(t.organization_id, '00000000-0000-0000-0000-000000000000')",
    due: 'next_attempt_at',
    only: 't.next_attempt_at is not null',
  },
  '$1',
  '$4',
  '$3',
)
const take = lockingStatement(
  `update launcher.mails t set next_attempt_at = $2, attempts = t.attempts + 1
    where t.id in (select d.id from launcher.mails d where d.id in (${turns}) and d.next_attempt_at <= $1 for update skip locked)
   returning t.id, t.kind, t.organization_id as "organizationId", t.sealed, t.attempts`,
)
const settle = lockingStatement(
  `update launcher.mails set next_attempt_at = $2, message_id = $3, sealed = case when $2::timestamptz is null then null else sealed end where id = $1`,
)

const placeOf = (id: string): string => `launcher.mails:${id}`

/** Contents of mails as they are stored. */
export const sealedMails: readonly SealedColumn[] = [{ table: 'launcher.mails', key: 'id', column: 'sealed', about: placeOf }]

export const openMailOutbox = (sequelize: Sequelize, cipher: Cipher): MailOutbox => ({
  async insert({ id, key, kind, organizationId, content }, now, transaction) {
    const sealed = cipher.seal(content, placeOf(id))
    return (await rows(sequelize, insert, [id, key, kind, organizationId, sealed, now], transaction)).length > 0
  },
  contentOf: ({ id, sealed }) => cipher.open(sealed, placeOf(id)),
  take: (now, until, limit, perOrganization) => rows<QueuedMail>(sequelize, take, [now, until, limit, perOrganization]),
  async settle(id, { messageId, next }) {
    await rows(sequelize, settle, [id, next, messageId])
  },
})
