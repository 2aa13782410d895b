import { randomBytes } from 'node:crypto'
import type { Transaction } from 'sequelize'
import { newId } from '../../../../platform/ids.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, texts, uuid } from '../../../../platform/sql/table.ts'
import type { StoreContext } from '../../../store/store.ts'
import type { Platform } from '../../network/network.ts'

export type RevocationEvent = 'DEAUTHORIZE' | 'DATA_DELETION'

export type DeletionStatus = 'RECEIVED' | 'IN_PROGRESS' | 'COMPLETED'

/**
 * Signed requests of networks about accounts that withdrew their permission or requested the deletion of their data.
 */
export const signedRequests = table('publishing.signed_requests', {
  id: uuid.key,
  platform: text.of<Platform>(),
  event: text.of<RevocationEvent>(),
  /** SHA-256 of the signed content. */
  digest: text,
  /** The network's id of the account; null once nothing needs to be found by it. */
  accountId: text.maybe,
  /** The organizations whose application signed the request; null for all. */
  organizationIds: texts.maybe,
  /** Code by which a person reads the state of a deletion. */
  code: text.maybe,
  status: text.of<DeletionStatus>(),
  receivedAt: moment,
  /**
   * Accounts that were connected later are not affected. Null in rows of an earlier version, where `receivedAt` counts.
   */
  meantUntil: moment.maybe,
  completedAt: moment.maybe,
  ...stamps,
})

export type SignedRequestRow = Row<typeof signedRequests>

const list = selectList(signedRequests, 'r')

const insert = statement(
  `insert into publishing.signed_requests as r
     (id, platform, event, digest, account_id, code, status, received_at, completed_at, created_at, updated_at, created_by, organization_ids, meant_until)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $8, $8, $10, $11, $12)
   on conflict (platform, event, digest) do nothing returning ${list}`,
)
const same = statement(`select ${list} from publishing.signed_requests r where r.platform = $1 and r.event = $2 and r.digest = $3`)
const byCode = statement(`select ${list} from publishing.signed_requests r where r.code = $1`)
const toDo = statement(`select ${list} from publishing.signed_requests r where r.status <> 'COMPLETED' order by r.received_at, r.id limit $1`)
const lock = statement(`select ${list} from publishing.signed_requests r where r.id = $1 and r.status <> 'COMPLETED' for update skip locked`)
const move = statement(
  `update publishing.signed_requests set status = $2, completed_at = $3, account_id = $4, updated_at = $5, version = version + 1 where id = $1`,
)

/** A new request to record. */
export interface Taken {
  readonly platform: Platform
  readonly event: RevocationEvent
  readonly digest: string
  readonly accountId: string
  /** Only requests signed by this application; null for all. */
  readonly organizations: readonly string[] | null
  /** Accounts that were connected later are not affected. */
  readonly meantUntil: Date
}

/** Requests belong to no tenant: they are found by their signed content, or by a code that only the person knows. */
export const signedRequestStore = {
  table: signedRequests,
  lists: {},
  open: ({ sequelize }: StoreContext) => ({
    /**
     * Records a request, once. A repetition waits until the first request has a result.
     * @returns the first request, and whether this call recorded it
     */
    async take(
      { platform, event, digest, accountId, organizations, meantUntil }: Taken,
      { now, transaction }: { now: Date; transaction: Transaction },
    ): Promise<{ readonly row: SignedRequestRow; readonly isFirst: boolean }> {
      const isDeletion = event === 'DATA_DELETION'
      const values = [newId(now), platform, event, digest, isDeletion ? accountId : null, isDeletion ? randomBytes(16).toString('hex') : null]
      const end = [isDeletion ? 'RECEIVED' : 'COMPLETED', now, isDeletion ? null : now, `network:${platform.toLowerCase()}`, organizations, meantUntil]
      const [made] = await rows<SignedRequestRow>(sequelize, insert, [...values, ...end], transaction)
      if (made) return { row: made, isFirst: true }
      const [earlier] = await rows<SignedRequestRow>(sequelize, same, [platform, event, digest], transaction)
      return { row: earlier!, isFirst: false }
    },

    /** Returns the deletion with a code; null for an unknown code. */
    async byCode(code: string): Promise<SignedRequestRow | null> {
      const [found] = await rows<SignedRequestRow>(sequelize, byCode, [code])
      return found ?? null
    },

    /** Returns deletions that are not completed, the oldest first. */
    toDo: (atOnce: number): Promise<readonly SignedRequestRow[]> => rows<SignedRequestRow>(sequelize, toDo, [atOnce]),

    /** Locks a deletion that is not completed; null while another process has locked it. */
    async lock(id: string, transaction: Transaction): Promise<SignedRequestRow | null> {
      const [held] = await rows<SignedRequestRow>(sequelize, lock, [id], transaction)
      return held ?? null
    },

    async begin({ id, accountId }: SignedRequestRow, now: Date, transaction: Transaction): Promise<void> {
      await rows(sequelize, move, [id, 'IN_PROGRESS', null, accountId, now], transaction)
    },

    /** Completes a request and deletes the account's data from it. */
    async complete({ id }: SignedRequestRow, now: Date, transaction: Transaction): Promise<void> {
      await rows(sequelize, move, [id, 'COMPLETED', now, null, now], transaction)
    },
  }),
}
