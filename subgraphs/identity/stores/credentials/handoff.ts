import type { Transaction } from 'sequelize'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { StoreContext } from '../../../store/store.ts'

/** Details of a handoff's code, besides the person. */
export interface HandoffDetails {
  readonly [name: string]: unknown
  /** Id in audit entries. */
  readonly handoffId: string
  readonly serviceId: string
  readonly organizationId: string | null
  /** Parent session; null when a service requested the handoff for the person. */
  readonly sessionId: string | null
  readonly returnTo: string | null
}

/** The person of a handoff, who may still continue. */
export interface Goer {
  readonly id: string
  readonly name: string
  readonly email: string | null
  /** Roles in the organization of the handoff; null in personal context. */
  readonly roles: readonly string[] | null
}

const minuteMs = 60_000

const lockPerson = statement('select from identity.users where id = $1 for no key update')
const countMade = statement(
  `select count(*)::int as made, min(at) as since from identity.audit_entries where person_id = $1 and action = 'handoff.created' and at > $2`,
)
const dropExpired = statement(`delete from identity.codes where subject = $1 and purpose = 'handoff' and expires_at <= $2`)
const findGoer = statement(
  `select u.id, u.name, u.email, (select m.roles from identity.memberships m where m.organization_id = $2 and m.user_id = u.id) as roles from identity.users u
    where u.id = $1 and u.suspended_at is null
      and ($2::uuid is null or exists (select from identity.memberships m where m.organization_id = $2 and m.user_id = u.id))
      and ($3::uuid is null or exists (select from identity.sessions s where s.id = $3 and s.user_id = u.id and s.expires_at > $4))`,
)
/** A concurrent end of the session waits, and then ends the sessions begun from it. */
const holdOrigin = statement('select from identity.sessions where id = $1 for key share')

/** Handoff queries besides codes. */
export const handoffStore = {
  open: ({ sequelize }: StoreContext) => ({
    /**
     * Counts a person's handoffs of the last minute, with the time of the first; expired ones are deleted. Concurrent
     * callers wait until the transaction ends.
     */
    async madeLately(userId: string, { now, transaction }: WriteTransaction): Promise<{ readonly made: number; readonly since: Date | null }> {
      await rows(sequelize, lockPerson, [userId], transaction)
      await rows(sequelize, dropExpired, [userId, now], transaction)
      const [lately] = await rows<{ made: number; since: Date | null }>(sequelize, countMade, [userId, new Date(now.getTime() - minuteMs)], transaction)
      return lately!
    },

    /** Whether account, membership and parent session of a handoff stand, without locking any of them. */
    async stands(userId: string, { organizationId, sessionId }: HandoffDetails, now: Date): Promise<boolean> {
      return (await rows<Goer>(sequelize, findGoer, [userId, organizationId, sessionId, now])).length > 0
    },

    /** Returns the person of a handoff, unless the account, the membership or the parent session ended. */
    async goer(userId: string, { organizationId, sessionId }: HandoffDetails, now: Date, transaction: Transaction): Promise<Goer | null> {
      if (sessionId !== null) await rows(sequelize, holdOrigin, [sessionId], transaction)
      const [found] = await rows<Goer>(sequelize, findGoer, [userId, organizationId, sessionId, now], transaction)
      return found ?? null
    },
  }),
}
