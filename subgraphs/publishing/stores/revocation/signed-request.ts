import { randomBytes } from 'node:crypto'
import type { Transaction } from 'sequelize'
import { newId } from '../../../../platform/ids.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, texts, uuid } from '../../../../platform/sql/table.ts'
import type { Opening } from '../../../store/store.ts'
import type { Platform } from '../../network/network.ts'

export type RevocationEvent = 'DEAUTHORIZE' | 'DATA_DELETION'

export type DeletionStatus = 'RECEIVED' | 'IN_PROGRESS' | 'COMPLETED'

/** What networks sent us, signed, of accounts that took their permission back or want their data deleted. */
export const signedRequests = table('publishing.signed_requests', {
  id: uuid.key,
  platform: text.of<Platform>(),
  event: text.of<RevocationEvent>(),
  /** SHA-256 of what was signed. */
  digest: text,
  /** The network's id of the account; null once nothing has to be found by it any more. */
  accountId: text.maybe,
  /** The organizations whose application signed it; null: everybody's. */
  organizationIds: texts.maybe,
  /** By which a person asks what became of a deletion. */
  code: text.maybe,
  status: text.of<DeletionStatus>(),
  receivedAt: moment,
  /** Accounts that were connected later are not meant; null: those since `receivedAt`, in what an earlier program took. */
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

/** What is remembered of a request. */
export interface Taken {
  readonly platform: Platform
  readonly event: RevocationEvent
  readonly digest: string
  readonly accountId: string
  /** Only requests signed by this application; null for all. */
  readonly organizations: readonly string[] | null
  /** What was connected later is not meant. */
  readonly meantUntil: Date
}

/** Not a tenant's to see: they are found by what was signed, or by a code that only the person knows. */
export const signedRequestStore = {
  table: signedRequests,
  lists: {},
  open: ({ sequelize }: Opening) => ({
    /**
     * Remembers a request, once. Whoever sends it again meanwhile waits here until it is known what became of the first.
     * @returns the first one, and whether this is it
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

    /** The deletion that a person asks about; null for a code of nobody. */
    async byCode(code: string): Promise<SignedRequestRow | null> {
      const [found] = await rows<SignedRequestRow>(sequelize, byCode, [code])
      return found ?? null
    },

    /** Deletions that are not completed, the oldest first. */
    toDo: (atOnce: number): Promise<readonly SignedRequestRow[]> => rows<SignedRequestRow>(sequelize, toDo, [atOnce]),

    /** Takes one up that is not completed; null while another process is at it. */
    async lock(id: string, transaction: Transaction): Promise<SignedRequestRow | null> {
      const [held] = await rows<SignedRequestRow>(sequelize, lock, [id], transaction)
      return held ?? null
    },

    async begin({ id, accountId }: SignedRequestRow, now: Date, transaction: Transaction): Promise<void> {
      await rows(sequelize, move, [id, 'IN_PROGRESS', null, accountId, now], transaction)
    },

    /** Ends one, and forgets whose it was. */
    async complete({ id }: SignedRequestRow, now: Date, transaction: Transaction): Promise<void> {
      await rows(sequelize, move, [id, 'COMPLETED', now, null, now], transaction)
    },
  }),
}
