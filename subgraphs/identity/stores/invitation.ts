import type { Transaction } from 'sequelize'
import { dayBefore, type Usage } from '../../../platform/limit.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, texts, uuid } from '../../../platform/sql/table.ts'
import type { FilterSql } from '../../store/filter/filters.ts'
import { type Rows, store } from '../../store/store.ts'

export type InvitationStatus = 'pending' | 'accepted' | 'declined' | 'revoked' | 'expired'

export const invitations = table('identity.invitations', {
  organizationId: uuid.key,
  id: uuid.key,
  /** Address in stored form. */
  email: text,
  roles: texts,
  /** Last written status: `statusAt` returns the present one. */
  status: text.of<InvitationStatus>().or('pending'),
  expiresAt: moment,
  /** The person of the address, once notified in the platform. */
  toldUserId: uuid.maybe,
  ...stamps,
})

export type InvitationRow = Row<typeof invitations>

/** Returns an invitation's status at a moment: a pending one past its end has expired, written or not. */
export const statusAt = ({ status, expiresAt }: Pick<InvitationRow, 'status' | 'expiresAt'>, now: Date): InvitationStatus =>
  status === 'pending' && expiresAt <= now ? 'expired' : status

const columns = selectList(invitations, 't')

/** Condition for invitations with a status at a moment, as by `statusAt`. */
function hasStatus(status: InvitationStatus, { bind, now }: FilterSql): string {
  if (status === 'pending') return `t.status = 'pending' and t.expires_at > ${bind(now)}`
  if (status === 'expired') return `(t.status = 'expired' or t.status = 'pending' and t.expires_at <= ${bind(now)})`
  return `t.status = ${bind(status)}`
}

const standing = statement(
  `select exists (select from identity.memberships m join identity.users u on u.id = m.user_id where m.organization_id = $1 and u.email = $2) as "isMember",
          coalesce(bool_or(i.email = $2 and i.status = 'pending' and i.expires_at > $3), false) as "isWaiting",
          count(*) filter (where i.status = 'pending' and i.expires_at > $3)::int as "inAll",
          count(*) filter (where i.created_at > $4)::int as today,
          min(i.created_at) filter (where i.created_at > $4) as "todaySince", min(own.made) as "madeToday", min(own.since) as "madeSince"
     from (select count(*)::int as made, min(o.created_at) as since from identity.invitations o where o.created_by = $5 and o.created_at > $4) own
     left join identity.invitations i on i.organization_id = $1 and (i.status = 'pending' or i.created_at > $4)`,
)
const expireOf = statement(
  `update identity.invitations set status = 'expired', version = version + 1, updated_at = $3
    where organization_id = $1 and email = $2 and status = 'pending' and expires_at <= $3 returning id`,
)
const findOver = statement(`select id from identity.invitations where status = 'pending' and expires_at <= $1 order by expires_at limit $2`)
const findUntold = statement(
  `select i.id, u.id as "userId", o.name as organization
     from identity.invitations i join identity.users u on u.email = i.email and u.email_verified join identity.organizations o on o.id = i.organization_id
    where i.status = 'pending' and i.told_user_id is null and i.expires_at > $1 limit $2`,
)

/** An organization's invitations, as far as the rules for another one need them. */
export interface Standing extends Usage {
  readonly isMember: boolean
  readonly isWaiting: boolean
  /**
   * Number of invitations that the inviting person created after `dayBefore(now)`, in any organization, and the time of
   * the first.
   */
  readonly madeToday: number
  readonly madeSince: Date | null
}

const invitationSql = (rows: Rows<typeof invitations>) => ({
  /**
   * Counts the invitations of an address and in all. Requires locks on the inviting person and the organization.
   * @param email in stored form
   */
  async standing(organizationId: string, email: string, person: string, now: Date, transaction: Transaction): Promise<Standing> {
    return (await rows.read<Standing>(standing, [organizationId, email, now, dayBefore(now), `user:${person}`], transaction))[0]!
  },

  /** Marks pending invitations of an address as expired. @returns their ids */
  async expireOf(organizationId: string, email: string, now: Date, transaction: Transaction): Promise<readonly string[]> {
    return (await rows.read<{ id: string }>(expireOf, [organizationId, email, now], transaction)).map(({ id }) => id)
  },

  /** Returns pending invitations past their end, the oldest first. */
  over: async (now: Date, most: number): Promise<readonly string[]> => (await rows.read<{ id: string }>(findOver, [now, most])).map(({ id }) => id),

  /** Returns invitations whose address belongs to a person who was not notified yet. */
  untold: (now: Date, most: number): Promise<{ readonly id: string; readonly userId: string; readonly organization: string }[]> =>
    rows.read(findUntold, [now, most]),
})

/** The invitations of the active organization. */
export const invitationStore = store(invitations, { what: 'invitation', tenancy: { by: 'organizationId' }, filters: { status: hasStatus } }, invitationSql)

/** Maximum number of a person's pending invitations that are shown. */
export const mostReceived = 50

const findReceived = statement(
  `select ${columns} from identity.invitations t join identity.users u on u.email = t.email
    where u.id = $1 and u.email_verified and t.status = 'pending' and t.expires_at > $2 order by t.created_at desc, t.id desc limit ${mostReceived}`,
)

const findInviting = statement(
  `select t.organization_id as "organizationId" from identity.invitations t join identity.users u on u.email = t.email
    where t.id = $1 and u.id = $2 and u.email_verified`,
)

/** Invitations that a person has received, by the account's verified address, in any organization. */
export const receivedInvitationStore = store(
  invitations,
  {
    what: 'invitation',
    tenancy: { where: 'exists (select from identity.users u where u.id = :person and u.email = t.email and u.email_verified)' },
  },
  rows => ({
    /** Returns a person's pending invitations, the newest first. */
    waitingFor: (userId: string, now: Date): Promise<InvitationRow[]> => rows.read(findReceived, [userId, now]),

    /** Returns the organization of an invitation; null for one that the person has not received. */
    async organizationOf(id: string, userId: string, transaction: Transaction): Promise<string | null> {
      const [found] = await rows.read<{ organizationId: string }>(findInviting, [id, userId], transaction)
      return found?.organizationId ?? null
    },
  }),
)
