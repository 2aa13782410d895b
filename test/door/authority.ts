import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { createBoundClock } from '../../platform/clock.ts'
import type { Authority, ValidKey, ValidSession } from '../../subgraphs/authority.ts'

const start = new Date('2027-03-01T09:00:00.000Z')

/** Credentials as identity would keep them, in memory: an implementation of the port for doors that have no database. */
export async function memoryAuthority(issuer: string) {
  const clock = createBoundClock(start)
  const sessions = new Map<string, ValidSession>()
  const keys = new Map<string, ValidKey>()
  const published: JWK[] = []
  const signing = new Map<string, CryptoKey>()
  const asked = { sessions: 0, jwks: 0, cookie: 0, keys: 0 }
  const touched: string[] = []
  let down = false
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
    clearCookie: () => ['session=; Max-Age=0; Path=/', 'other=; Max-Age=0; Path=/'],
    hashKey: clear => `hash of ${clear}`,
    async keys(hashes) {
      up()
      asked.keys += 1
      return new Map(hashes.flatMap(hash => (keys.has(hash) ? [[hash, keys.get(hash)!] as const] : [])))
    },
    async keysById(ids) {
      up()
      return new Map([...keys.values()].filter(key => ids.includes(key.keyId)).map(key => [key.keyId, key]))
    },
    touchKeys: ids => void touched.push(...ids),
    ready: async () => up(),
  }
  return {
    authority,
    clock,
    sessions,
    keys,
    asked,
    /** Ids of keys whose use was noted. */
    touched,
    fail: (state: boolean) => {
      down = state
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
