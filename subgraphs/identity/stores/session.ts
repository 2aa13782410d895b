import type pg from 'pg'
import type { Transaction } from 'sequelize'
import type { Clock } from '../../../platform/clock.ts'
import { isId } from '../../../platform/ids.ts'
import { rows, statement } from '../../../platform/sql/statement.ts'
import type { CookieSession, ValidSession } from '../../authority.ts'
import type { Opening } from '../../store/store.ts'

interface SessionFound {
  readonly id: string
  readonly user_id: string
  readonly expires_at: Date
  readonly active_organization_id: string | null
  /** Roles by organization; null for a person without any membership. */
  readonly memberships: Record<string, string[]> | null
}

const findValid = `
  select s.id, s.user_id, s.expires_at, s.active_organization_id,
         (select jsonb_object_agg(m.organization_id, m.roles) from identity.memberships m where m.user_id = s.user_id) as memberships
    from identity.sessions s`

/** The questions that are asked about sessions with every request: prepared statements on a pool of their own, no model between. */
export function createSessionReader(pool: pg.Pool, clock: Clock) {
  return {
    async byId(named: readonly string[]): Promise<ReadonlyMap<string, ValidSession>> {
      const ids = named.filter(isId)
      if (ids.length === 0) return new Map()
      const { rows } = await pool.query<SessionFound>({
        name: 'sessions by id',
        text: `${findValid} where s.id = any($1::uuid[]) and s.expires_at > $2`,
        values: [ids, clock.now()],
      })
      return new Map(rows.map(row => [row.id, toValidSession(row)]))
    },

    async byToken(token: string): Promise<CookieSession | null> {
      const { rows } = await pool.query<SessionFound>({
        name: 'session by token',
        text: `${findValid} where s.token = $1 and s.expires_at > $2`,
        values: [token, clock.now()],
      })
      return rows[0] ? { sessionId: rows[0].id, ...toValidSession(rows[0]) } : null
    },

    /** Removes what is left of a person's expired sessions: whoever keeps signing in does not fill the table. */
    async dropExpired(userId: string): Promise<void> {
      await pool.query({
        name: 'drop expired sessions',
        text: 'delete from identity.sessions where user_id = $1 and expires_at <= $2',
        values: [userId, clock.now()],
      })
    },

    /** Ends one session; one that has ended already is none. */
    async end({ sessionId, userId }: { readonly sessionId: string; readonly userId: string }): Promise<void> {
      await pool.query({ name: 'end session', text: 'delete from identity.sessions where id = $1 and user_id = $2', values: [sessionId, userId] })
    },

    /** Where a new session begins: in the organization that was last switched to, else in the oldest membership. */
    async organizationAtSignIn(userId: string): Promise<string | null> {
      const { rows } = await pool.query<{ organization_id: string }>({
        name: 'organization at sign-in',
        text: `select organization_id from identity.memberships where user_id = $1
                order by last_used_at desc nulls last, created_at, id limit 1`,
        values: [userId],
      })
      return rows[0]?.organization_id ?? null
    },

    /** The roles that a person has in an organization; null without a membership. */
    async rolesIn(organizationId: string, userId: string): Promise<readonly string[] | null> {
      const { rows } = await pool.query<{ roles: string[] }>({
        name: 'roles in organization',
        text: 'select roles from identity.memberships where organization_id = $1 and user_id = $2',
        values: [organizationId, userId],
      })
      return rows[0]?.roles ?? null
    },
  }
}

function toValidSession(row: SessionFound): ValidSession {
  const memberships = row.memberships ?? {}
  const roles = row.active_organization_id === null ? undefined : memberships[row.active_organization_id]
  return {
    userId: row.user_id,
    organizationId: roles ? row.active_organization_id : null,
    roles: roles ?? [],
    context: roles ? 'organization' : 'personal',
    memberships,
    expiresAt: row.expires_at,
  }
}

const moveSession = statement(
  'update identity.sessions set active_organization_id = $1, updated_at = $2 where id = $3 and user_id = $4 and expires_at > $2 returning id',
)

/** The credential library's sessions, as far as resolvers change them. */
export const sessionStore = {
  open: ({ sequelize }: Opening) => ({
    /** Makes another organization the active one of a session; false when the person has no such session any more. */
    async move(session: { sessionId: string; userId: string }, organizationId: string, now: Date, transaction: Transaction): Promise<boolean> {
      return (await rows(sequelize, moveSession, [organizationId, now, session.sessionId, session.userId], transaction)).length > 0
    },
  }),
}
