import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { createBoundClock } from '../../platform/clock.ts'
import type { Authority, ForeignPerson, Newcomer, ServiceClient, ServiceClients, Standing, ValidKey, ValidSession } from '../../subgraphs/authority.ts'

const start = new Date('2027-03-01T09:00:00.000Z')

/** Credentials as identity would keep them, in memory: an implementation of the port for doors that have no database. */
export async function memoryAuthority(issuer: string) {
  const clock = createBoundClock(start)
  const sessions = new Map<string, ValidSession>()
  const keys = new Map<string, ValidKey>()
  const standings = new Map<string, Standing>()
  const clients = new Map<string, ServiceClient>()
  const foreigners = new Map<string, ForeignPerson>()
  const admitted: Newcomer[] = []
  const published: JWK[] = []
  const signing = new Map<string, CryptoKey>()
  const asked = { sessions: 0, jwks: 0, cookie: 0, keys: 0 }
  const touched: string[] = []
  const touchedSessions: string[] = []
  let down = false
  let held: Promise<unknown> | undefined
  const up = () => {
    if (down) throw new Error('the database of identity is down')
  }
  const authority: Authority = {
    issuer,
    audience: 'supergraph',
    async jwks() {
      up()
      asked.jwks += 1
      return { keys: [...published] }
    },
    async sessions(ids) {
      up()
      asked.sessions += 1
      await held
      return new Map(ids.flatMap(id => (sessions.has(id) ? [[id, sessions.get(id)!] as const] : [])))
    },
    async cookie(headers) {
      up()
      asked.cookie += 1
      const id = /(?:^|; *)session=([^;]+)/.exec(headers.get('cookie') ?? '')?.[1]
      if (!id) return null
      const session = sessions.get(id)
      return session ? { ...session, sessionId: id } : 'stale'
    },
    touchSessions: ids => void touchedSessions.push(...ids),
    clearCookie: () => ['session=; Max-Age=0; Path=/', 'other=; Max-Age=0; Path=/'],
    hashKey: clear => `hash of ${clear}`,
    async keys(hashes) {
      up()
      asked.keys += 1
      return new Map(hashes.flatMap(hash => (keys.has(hash) ? [[hash, keys.get(hash)!] as const] : [])))
    },
    lendKeys: async uses => uses.map(({ want }) => ({ granted: want, spare: 0, waitMs: 0 })),
    countPublicPosts: async (_, many) => ({ granted: many, waitMs: 0 }),
    touchKeys: ids => void touched.push(...ids),
    async standings(asked) {
      up()
      return new Map(asked.flatMap(text => (standings.has(text) ? [[text, standings.get(text)!] as const] : [])))
    },
    async foreigners(subjects) {
      up()
      return new Map(subjects.flatMap(text => (foreigners.has(text) ? [[text, foreigners.get(text)!] as const] : [])))
    },
    async admit(newcomer) {
      up()
      admitted.push(newcomer)
      foreigners.set(newcomer.subject, { userId: `user of ${newcomer.subject}`, suspended: false, memberships: {} })
    },
    ready: async () => up(),
  }
  /** What the gateway to providers would know; away when identity is. */
  const gateway: ServiceClients = {
    async serviceClients(asked) {
      up()
      return new Map(asked.flatMap(text => (clients.has(text) ? [[text, clients.get(text)!] as const] : [])))
    },
  }
  return {
    authority,
    gateway,
    clock,
    sessions,
    keys,
    standings,
    clients,
    foreigners,
    /** Who was made, in order. */
    admitted,
    asked,
    /** Ids of keys whose use was noted, and of sessions. */
    touched,
    touchedSessions,
    fail: (state: boolean) => {
      down = state
    },
    /** What is asked of sessions from now on is answered when this resolves. */
    hold: (until: Promise<unknown>) => {
      held = until
    },
    /** Publishes a signing key. */
    async addSigningKey(kid: string) {
      const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true })
      signing.set(kid, privateKey)
      published.push({ ...(await exportJWK(publicKey)), kid, alg: 'EdDSA', use: 'sig' })
    },
    /** A session of a member of an organization. */
    signIn(id: string, session: Partial<ValidSession> = {}) {
      const given = {
        userId: `user of ${id}`,
        organizationId: 'org-1',
        roles: ['member'],
        context: 'organization' as const,
        expiresAt: new Date('2028-01-01'),
        grant: null,
        ...session,
      }
      const whole: ValidSession = { memberships: given.organizationId === null ? {} : { [given.organizationId]: given.roles }, ...given }
      sessions.set(id, whole)
      return whole
    },
    /** An access token of a session, as identity signs it. */
    token(sid: string, claims: Record<string, unknown> = {}, kid = [...signing.keys()].at(-1)!) {
      const session = sessions.get(sid)!
      const now = Math.floor(clock.now().getTime() / 1000)
      return new SignJWT({ sid, org: session.organizationId, ctx: session.context, roles: session.roles, sub: session.userId, exp: now + 600, ...claims })
        .setProtectedHeader({ alg: 'EdDSA', kid })
        .setIssuer(String(claims.iss ?? issuer))
        .setAudience(String(claims.aud ?? 'supergraph'))
        .sign(signing.get(kid)!)
    },
  }
}
