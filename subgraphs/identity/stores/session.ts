import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Transaction } from 'sequelize'
import type { Clock } from '../../../platform/clock.ts'
import { isId } from '../../../platform/ids.ts'
import { rows, type Statement, statement } from '../../../platform/sql/statement.ts'
import type { CookieSession, Grant, ValidSession } from '../../authority.ts'
import type { WriteTransaction } from '../../store/books.ts'
import type { StoreContext } from '../../store/store.ts'

/** How a session began. */
export type SessionKind = 'password' | 'handoff' | 'oauth'

interface SessionFound {
  readonly id: string
  readonly user_id: string
  readonly expires_at: Date
  readonly active_at: Date
  readonly active_organization_id: string | null
  readonly context: 'personal' | 'organization'
  readonly client_id: string | null
  readonly scopes: string[] | null
  readonly trusted: boolean
  /** Roles by organization; null for a person without any membership. */
  readonly memberships: Record<string, string[]> | null
}

const findValid = `
  select s.id, s.user_id, s.expires_at, coalesce(s.last_active_at, s.created_at) as active_at, s.active_organization_id, s.context, s.client_id, s.scopes, s.trusted,
         (select jsonb_object_agg(m.organization_id, m.roles) from identity.memberships m where m.user_id = s.user_id) as memberships
    from identity.sessions s join identity.users u on u.id = s.user_id and u.suspended_at is null`

/** Accuracy of "last active", in ms. */
const touchEvery = 60_000
/** Maximum number of sessions whose last write is remembered; forgotten ones may be written earlier. */
const mostRemembered = 10_000
const dayMs = 86_400_000
/** Lifetime in ms of a session that use renews, from its last renewal. It is renewed at most once a day. */
const lifetimeMs = 7 * dayMs

/** Maximum number of a person's sessions: a further one ends the oldest. */
export const mostSessions = 50

// A session counts as used when its newest derived session was, because those end with it.
const tidy = `
  with recursive line as (
    select id, created_at, id::text as newest_id from identity.sessions where user_id = $1 and expires_at > $2
    union all
    select s.origin_session_id, l.created_at, l.newest_id from line l join identity.sessions s on s.id = l.id
     where s.origin_session_id is not null)
  delete from identity.sessions where user_id = $1 and (expires_at <= $2 or id in (
    select id from line group by id order by max(created_at) desc, max(newest_id) desc, id offset ${mostSessions}))`

/** Creates the reader for the lookups of every request: prepared statements on a separate pool, without models. */
export function createSessionReader(pool: pg.Pool, clock: Clock, log: Pick<Logger, 'warn'>) {
  /** Last stored activity of each session, in ms since 1970. */
  const active = new LRUCache<string, number>({ max: mostRemembered })
  const writing = new Set<Promise<unknown>>()
  const told = (row: SessionFound): ValidSession => {
    active.set(row.id, Math.max(active.get(row.id) ?? 0, row.active_at.getTime()))
    return toValidSession(row)
  }

  return {
    async byId(named: readonly string[]): Promise<ReadonlyMap<string, ValidSession>> {
      const ids = named.filter(isId)
      if (ids.length === 0) return new Map()
      const { rows } = await pool.query<SessionFound>({
        name: 'sessions by id',
        text: `${findValid} where s.id = any($1::uuid[]) and s.expires_at > $2`,
        values: [ids, clock.now()],
      })
      return new Map(rows.map(row => [row.id, told(row)]))
    },

    async byToken(token: string): Promise<CookieSession | null> {
      const { rows } = await pool.query<SessionFound>({
        name: 'session by token',
        text: `${findValid} where s.token = $1 and s.expires_at > $2`,
        values: [token, clock.now()],
      })
      return rows[0] ? { sessionId: rows[0].id, ...told(rows[0]) } : null
    },

    /**
     * Records the use of sessions, in the background and at most once a minute for each. Use renews a session once a
     * day has passed since its last renewal.
     */
    touch(ids: readonly string[]): void {
      const now = clock.now()
      const due = [...new Set(ids)].filter(id => now.getTime() - (active.get(id) ?? Number.NEGATIVE_INFINITY) >= touchEvery)
      if (due.length === 0) return
      for (const id of due) active.set(id, now.getTime())
      const done = pool
        .query({
          name: 'touch sessions',
          // Using a session from a handoff counts as using the session it came from.
          text: `with recursive line as (
                   select id, origin_session_id, true as used from identity.sessions where id = any($1::uuid[])
                   union select o.id, o.origin_session_id, false from identity.sessions o join line l on o.id = l.origin_session_id)
                 update identity.sessions s
                    set last_active_at = case when l.used then $2 else s.last_active_at end,
                        expires_at = case when s.renews and s.expires_at < $3 then $4 else s.expires_at end
                   from (select id, bool_or(used) as used from line group by id) l
                  where s.id = l.id and s.expires_at > $2 and (not l.used or s.last_active_at is null or s.last_active_at < $2)`,
          values: [due, now, new Date(now.getTime() + lifetimeMs - dayMs), new Date(now.getTime() + lifetimeMs)],
        })
        .catch(error => log.warn({ err: error }, 'last use of sessions could not be stored'))
        .finally(() => writing.delete(done))
      writing.add(done)
    },

    /** Resolves when no write is in progress. */
    async settle(): Promise<void> {
      await Promise.all(writing)
    },

    /**
     * Deletes a person's expired sessions, and the oldest above the maximum, so that frequent sign-ins do not fill the
     * table.
     */
    async began(userId: string): Promise<void> {
      await pool.query({ name: 'tidy sessions', text: tidy, values: [userId, clock.now()] })
    },

    /** Returns the organization in which a new session begins: the one last switched to, else the oldest membership. */
    async organizationAtSignIn(userId: string): Promise<string | null> {
      const { rows } = await pool.query<{ organization_id: string }>({
        name: 'organization at sign-in',
        text: `select organization_id from identity.memberships where user_id = $1
                order by last_used_at desc nulls last, created_at, id limit 1`,
        values: [userId],
      })
      return rows[0]?.organization_id ?? null
    },

    /** Returns a person's roles in an organization; null without a membership. */
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
  const roles = row.active_organization_id === null || row.context === 'personal' ? undefined : memberships[row.active_organization_id]
  return {
    userId: row.user_id,
    organizationId: roles ? row.active_organization_id : null,
    roles: roles ?? [],
    context: roles ? 'organization' : 'personal',
    memberships,
    expiresAt: row.expires_at,
    grant: grantOf(row),
  }
}

const grantOf = ({ client_id, scopes, trusted }: Pick<SessionFound, 'client_id' | 'scopes' | 'trusted'>): Grant | null =>
  client_id === null ? null : { clientId: client_id, scopes: scopes ?? [], trusted }

/** A session in the form for its person. */
export interface SessionRow {
  readonly id: string
  readonly kind: SessionKind
  readonly createdAt: Date
  readonly lastActiveAt: Date
  readonly expiresAt: Date
  readonly ipAddress: string | null
  readonly userAgent: string | null
  /** The active organization; null in personal context. */
  readonly organizationId: string | null
  /** Name of the OAuth client that uses the session. */
  readonly clientName: string | null
}

const told = `select s.id, s.kind, s.created_at as "createdAt", coalesce(s.last_active_at, s.created_at) as "lastActiveAt", s.expires_at as "expiresAt",
    s.ip_address as "ipAddress", s.user_agent as "userAgent", m.organization_id as "organizationId", c.name as "clientName"
  from identity.sessions s
  left join identity.memberships m on s.context = 'organization' and m.organization_id = s.active_organization_id and m.user_id = s.user_id
  left join identity.oauth_clients c on c.client_id = s.client_id
 where s.user_id = $1 and s.expires_at > $2`
const listOwn = statement(`${told} order by coalesce(s.last_active_at, s.created_at) desc, s.id desc limit ${mostSessions}`)
const findOwn = statement(`${told} and s.id = $3`)
const lockOwn = statement(`${told} and s.id = $3 for update of s`)
const lockOwns = statement(`${told} and s.id is distinct from $3::uuid order by s.id for update of s`)
const findEnded = statement('select session from identity.ended_sessions where id = $1 and user_id = $2')
const keepEnded = statement(
  `insert into identity.ended_sessions (id, user_id, session, ended_at)
   select (e->>'id')::uuid, $1, e, $3 from jsonb_array_elements($2::jsonb) as e on conflict (id) do nothing`,
)

const moveSession = statement(
  `update identity.sessions set active_organization_id = coalesce($1, active_organization_id), context = case when $1::uuid is null then 'personal' else 'organization' end,
          updated_at = $2
    where id = $3 and user_id = $4 and expires_at > $2 returning client_id, scopes, trusted`,
)

const insertSession = statement(
  `insert into identity.sessions (id, token, user_id, kind, active_organization_id, context, client_id, scopes, trusted, renews,
                                  ip_address, user_agent, created_at, updated_at, expires_at, origin_session_id)
   select $1, $2, u.id, $4, $5, $6, $7, $8::text[], $9, $10, $11, $12, $13::timestamptz, $13::timestamptz, $14, $15
     from identity.users u where u.id = $3 and u.suspended_at is null for share of u
   returning (select roles from identity.memberships where organization_id = $5 and user_id = $3) as roles`,
)

const endOldest = statement(tidy)

/** Ends the sessions that match a condition, and all that were begun from them; one statement returns all of them. */
const ending = (condition: string): Statement =>
  statement(`
  with recursive line as (
    select id from identity.sessions where ${condition}
    union select s.id from identity.sessions s join line l on s.origin_session_id = l.id)
  delete from identity.sessions where id in (select id from line)
  returning id, user_id as "userId", kind, active_organization_id as "organizationId"`)
const endings = {
  session: ending('id = $1'),
  cookies: ending('token = any($1::text[])'),
  person: ending('user_id = $1 and id is distinct from $2::uuid'),
  several: ending('id = any($1::uuid[])'),
  client: ending('client_id = $1 and ($2::uuid is null or user_id = $2)'),
  appsIn: ending('user_id = $1 and active_organization_id = $2 and client_id is not null'),
}
/** Detaches a session that continues when its person ends all others, including the session that it was begun from. */
const standAlone = statement('update identity.sessions set origin_session_id = null where id = $1 and origin_session_id is not null')
const leave = statement('update identity.sessions set active_organization_id = null where user_id = $1 and active_organization_id = $2')

/** Selects the sessions to end. */
export type Ending =
  | { readonly sessionId: string }
  | { readonly sessionIds: readonly string[] }
  /** Sessions of these cookies. */
  | { readonly tokens: readonly string[] }
  /** All sessions of a person, those of apps included. @param except the session that continues */
  | { readonly userId: string; readonly except?: string | null }
  /**
   * Sessions of apps that act for a person in an organization. The person's own sessions have left that organization
   * before.
   */
  | { readonly userId: string; readonly organizationId: string }
  /** All sessions of an OAuth client, of one person or of all. */
  | { readonly clientId: string; readonly userId?: string }

/** A session that has ended. */
export interface EndedSession {
  readonly id: string
  readonly userId: string
  readonly kind: SessionKind
  readonly organizationId: string | null
}

/** A new session. */
export interface BeginningSession {
  readonly id: string
  readonly token: string
  readonly userId: string
  readonly kind: SessionKind
  readonly organizationId: string | null
  readonly context: 'personal' | 'organization'
  readonly grant: Grant | null
  readonly renews: boolean
  readonly ipAddress: string | null
  readonly userAgent: string | null
  readonly expiresAt: Date
  /** The session from which a handoff began this one; null for others. */
  readonly originSessionId: string | null
}

/** The credential library's sessions, with the creations, changes and ends that we make ourselves. */
export const sessionStore = {
  open: ({ sequelize }: StoreContext) => ({
    /**
     * Switches a session to another organization, or to personal context.
     * @param organizationId null for personal context, which only a later call leaves
     * @returns the grant of an OAuth client's session, null for other sessions; undefined when the person has no such
     * session any more
     */
    async move(
      session: { sessionId: string; userId: string },
      organizationId: string | null,
      now: Date,
      transaction: Transaction,
    ): Promise<Grant | null | undefined> {
      const values = [organizationId, now, session.sessionId, session.userId]
      const [moved] = await rows<Pick<SessionFound, 'client_id' | 'scopes' | 'trusted'>>(sequelize, moveSession, values, transaction)
      return moved && grantOf(moved)
    },

    /** Returns a person's valid sessions, by last activity. */
    ofPerson: (userId: string, now: Date): Promise<SessionRow[]> => rows(sequelize, listOwn, [userId, now]),

    /** Returns a valid session of a person. */
    async one(id: string, userId: string, now: Date): Promise<SessionRow | null> {
      return (await rows<SessionRow>(sequelize, findOwn, [userId, now, id]))[0] ?? null
    },

    /** Locks and returns a valid session of a person. */
    async holdOne(id: string, userId: string, { now, transaction }: WriteTransaction): Promise<SessionRow | null> {
      return (await rows<SessionRow>(sequelize, lockOwn, [userId, now, id], transaction))[0] ?? null
    },

    /** Locks and returns all valid sessions of a person except one. */
    holdOthers: (userId: string, except: string | null, { now, transaction }: WriteTransaction): Promise<SessionRow[]> =>
      rows(sequelize, lockOwns, [userId, now, except], transaction),

    /** Returns a session that its person has ended within the last day. */
    async ended(id: string, userId: string, transaction: Transaction): Promise<SessionRow | null> {
      const [found] = await rows<{ session: SessionRow }>(sequelize, findEnded, [id, userId], transaction)
      if (!found) return null
      const { createdAt, lastActiveAt, expiresAt, ...others } = found.session
      return { ...others, createdAt: new Date(createdAt), lastActiveAt: new Date(lastActiveAt), expiresAt: new Date(expiresAt) }
    },

    /** Stores sessions that a person has ended, for a day. */
    keepEnded: async (ended: readonly SessionRow[], userId: string, { now, transaction }: WriteTransaction): Promise<void> =>
      void (await rows(sequelize, keepEnded, [userId, JSON.stringify(ended), now], transaction)),

    /**
     * Stores a new session, and ends the person's oldest one above the maximum.
     * @returns the person's roles in its organization, null without a membership; undefined, without a new session, for
     * a suspended or deleted person
     */
    async insert(session: BeginningSession, { now, transaction }: WriteTransaction): Promise<readonly string[] | null | undefined> {
      const { id, token, userId, kind, organizationId, context, grant, renews, ipAddress, userAgent, expiresAt, originSessionId } = session
      const values = [id, token, userId, kind, organizationId, context, grant?.clientId ?? null, grant?.scopes ?? null, grant?.trusted ?? false]
      const [made] = await rows<{ roles: string[] | null }>(
        sequelize,
        insertSession,
        [...values, renews, ipAddress, userAgent, now, expiresAt, originSessionId],
        transaction,
      )
      await rows(sequelize, endOldest, [userId, now], transaction)
      return made?.roles
    },

    /** Detaches a session from the session that it was begun from, so that it continues when that one ends. */
    standAlone: async (id: string, { transaction }: WriteTransaction): Promise<void> => void (await rows(sequelize, standAlone, [id], transaction)),

    /**
     * Ends sessions, and those that handoffs have begun from them: from the commit on, no credential of theirs is
     * valid.
     */
    async end(of: Ending, { transaction }: WriteTransaction): Promise<readonly EndedSession[]> {
      const gone = (wanted: Statement, values: readonly unknown[]) => rows<EndedSession>(sequelize, wanted, values, transaction)
      if ('sessionId' in of) return gone(endings.session, [of.sessionId])
      if ('sessionIds' in of) return gone(endings.several, [of.sessionIds])
      if ('tokens' in of) return gone(endings.cookies, [of.tokens])
      if ('clientId' in of) return gone(endings.client, [of.clientId, of.userId ?? null])
      if (!('organizationId' in of)) {
        if (of.except) await rows(sequelize, standAlone, [of.except], transaction)
        return gone(endings.person, [of.userId, of.except ?? null])
      }
      const apps = await gone(endings.appsIn, [of.userId, of.organizationId])
      await rows(sequelize, leave, [of.userId, of.organizationId], transaction)
      return apps
    },
  }),
}
