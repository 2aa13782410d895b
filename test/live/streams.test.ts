import { describe, expect, test } from 'vitest'
import { createBoundClock } from '../../platform/clock.ts'
import type { Credential } from '../../router/access/authenticate.ts'
import { createStreams } from '../../router/live/streams.ts'
import type { ValidKey, ValidSession } from '../../subgraphs/authority.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'

const noon = new Date('2027-03-01T12:00:00.000Z')

/** A registry that looks without pause, at sessions and keys which a test changes. */
function watching() {
  const clock = createBoundClock(noon)
  const sessions = new Map<string, ValidSession>()
  const keys = new Map<string, ValidKey>()
  let looks = 0
  let gate: Promise<void> = Promise.resolve()
  const asked: string[][] = []
  const askedKeys: string[][] = []
  const authority = {
    async sessions(ids: readonly string[]) {
      looks += 1
      asked.push([...ids])
      await gate
      if (isFailing) throw new Error('identity is away')
      return new Map([...sessions].filter(([id]) => ids.includes(id)))
    },
    async jwks() {
      return { keys: kids.map(kid => ({ kid, kty: 'OKP' })) }
    },
    keys: async (ids: readonly string[]) => {
      looks += 1
      askedKeys.push([...ids])
      return new Map([...keys].filter(([id]) => ids.includes(id)))
    },
  }
  const kids = ['first', 'second']
  let elapsedMs = 1_000
  let isFailing = false
  const streams = createStreams(authority, clock, { warn() {} }, { everyMs: 2, unansweredMs: 60_000, elapsed: () => elapsedMs })
  const ends: string[] = []
  return {
    clock,
    sessions,
    keys,
    asked,
    askedKeys,
    /** The signing keys that are published. */
    kids,
    /** Lets no question about sessions be answered until the returned function is called. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
    ends,
    streams,
    /** Whether identity answers with an error. */
    fail(now: boolean) {
      isFailing = now
    },
    /** Lets time pass by which it is measured how long nobody answers. */
    pass(ms: number) {
      elapsedMs += ms
    },
    /** Watches a stream; what ends it is written down. */
    open(viewer: Partial<Viewer>, credential: Credential, name = '') {
      const forget = streams.watch({
        caller: { viewer: { ...anonymous, ...viewer }, credential },
        end: (code, reason) => void ends.push(`${name}${code} ${reason}`),
      })
      return { forget }
    },
    /** Waits until everything was looked at twice from now on: the look that is under way may be half done. */
    async looked() {
      const before = looks
      await expect.poll(() => looks, { interval: 2 }).toBeGreaterThan(before + 2)
    },
    [Symbol.dispose]: () => streams.stop(),
  }
}

const session = (more: Partial<ValidSession> = {}): ValidSession => ({
  userId: 'u',
  organizationId: 'one',
  roles: ['member'],
  context: 'organization',
  memberships: { one: ['member'], two: ['owner'] },
  grant: null,
  expiresAt: new Date('2028-01-01'),
  ...more,
})
const member = { kind: 'user', userId: 'u', organizationId: 'one', roles: ['member'], context: 'organization' } as const
const token: Credential = { kind: 'token', id: 's', expiresAt: new Date(noon.getTime() + 600_000) }
const cookie: Credential = { kind: 'cookie', id: 's', expiresAt: null }
const key: Credential = { kind: 'key', id: 'k', expiresAt: new Date(noon.getTime() + 1000) }
const rightsChanged = expect.arrayContaining(['4403 rights changed'])

describe('a stream', () => {
  test.each([
    ['token', token],
    ['cookie', cookie],
  ])('of a %s goes on while nothing changes, whatever organization the person moves in beside', async (_what, credential) => {
    using world = watching()
    world.sessions.set('s', session())
    world.open(member, credential)
    await world.looked()
    world.sessions.set('s', session({ memberships: { one: ['member'], three: ['owner'] } }))
    await world.looked()
    expect(world.ends).toEqual([])
    expect(world.streams.size).toBe(1)
  })

  test('of a cookie is decided anew when its session moves to another organization', async () => {
    using world = watching()
    world.sessions.set('s', session())
    world.open(member, cookie)
    await world.looked()
    expect(world.ends).toEqual([])
    world.sessions.set('s', session({ organizationId: 'two', roles: ['owner'] }))
    await world.looked()
    expect(world.ends).toEqual(rightsChanged)
  })

  test('of a token stays in its organization when the session moves to another', async () => {
    using world = watching()
    world.sessions.set('s', session({ organizationId: 'two', roles: ['owner'] }))
    world.open(member, token)
    await world.looked()
    expect(world.ends).toEqual([])
  })

  test.each<[string, readonly string[] | undefined]>([
    ['gained a role', ['member', 'admin']],
    ['lost its role', []],
    ['has another role instead', ['viewer']],
    ['has twice as much of one role', ['member', 'member']],
    ['is no member any more', undefined],
  ])('whose person %s is decided anew', async (_what, roles) => {
    for (const credential of [token, cookie]) {
      using world = watching()
      world.sessions.set('s', session())
      world.open(member, credential)
      await world.looked()
      expect(world.ends).toEqual([])
      world.sessions.set('s', session({ memberships: roles ? { one: roles } : {} }))
      await world.looked()
      expect(world.ends).toEqual(rightsChanged)
    }
  })

  test('is decided anew when its person has the same number of roles, but others', async () => {
    using world = watching()
    world.sessions.set('s', session({ memberships: { one: ['member', 'admin'] } }))
    world.open({ ...member, roles: ['member', 'viewer'] }, token)
    await world.looked()
    expect(world.ends).toEqual(rightsChanged)
  })

  test('of a person without an organization continues, and ends when the cookie’s session enters one', async () => {
    using world = watching()
    world.sessions.set('s', session({ organizationId: null, roles: [] }))
    world.open({ kind: 'user', userId: 'u' }, cookie)
    await world.looked()
    expect(world.ends).toEqual([])
    world.sessions.set('s', session())
    await world.looked()
    expect(world.ends).toEqual(rightsChanged)
  })

  test('of a session is distinct from one of a key with the same id', async () => {
    using world = watching()
    world.keys.set('same', { keyId: 'same', organizationId: 'one', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
    world.open({ kind: 'apiKey', keyId: 'same', scopes: [] }, { kind: 'key', id: 'same', expiresAt: null }, 'key ')
    const { forget } = world.open(member, { ...cookie, id: 'same' }, 'cookie ')
    await world.looked()
    expect(new Set(world.ends)).toEqual(new Set(['cookie 4403 session ended']))
    forget()
    world.ends.length = 0
    world.keys.clear()
    world.sessions.set('same', session())
    world.open(member, { ...cookie, id: 'same' }, 'cookie ')
    await world.looked()
    expect(new Set(world.ends)).toEqual(new Set(['key 4403 key revoked']))
  })

  test('that is opened during a check waits for the next one; no check begins while one runs', async () => {
    using world = watching()
    world.sessions.set('first', session())
    world.open(member, { ...token, id: 'first' })
    await world.looked()
    const release = world.hold()
    const before = world.asked.length
    await expect.poll(() => world.asked.length, { interval: 2 }).toBe(before + 1)
    world.open(member, { ...token, id: 'second' })
    await new Promise(resolve => setTimeout(resolve, 20))
    expect([world.asked.length, world.ends]).toEqual([before + 1, []])
    world.sessions.set('second', session())
    release()
    await world.looked()
    expect(world.ends).toEqual([])
    expect(world.asked.at(-1)).toEqual(['first', 'second'])
  })

  test('is checked as its kind of credential, and not at all after the registry has stopped', async () => {
    using world = watching()
    world.sessions.set('s', session())
    world.open(member, token)
    await world.looked()
    expect(world.askedKeys).toEqual([])
    world.streams.stop()
    const before = world.asked.length
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(world.asked.length - before).toBeLessThanOrEqual(1)
  })

  test('continues when its roles only change their order', async () => {
    using world = watching()
    world.sessions.set('s', session({ memberships: { one: ['admin', 'member'] } }))
    world.open({ ...member, roles: ['member', 'admin'] }, token)
    await world.looked()
    expect(world.ends).toEqual([])
  })

  test('of an app ends when the app’s rights change: by its grant, or by the roles of its person', async () => {
    const grant = { clientId: 'app', scopes: ['publishing:posts.read', 'publishing:posts.write'], trusted: false }
    const app = { ...member, roles: [], clientId: 'app', scopes: ['publishing:posts.read', 'publishing:posts.write'] } as const
    for (const [after, ends] of [
      [session({ grant }), false],
      [session({ grant: { ...grant, scopes: ['openid', ...grant.scopes] } }), false],
      [session({ grant: { ...grant, scopes: ['publishing:posts.read'] } }), true],
      [session({ grant, memberships: { one: ['viewer'] } }), true],
      [session({ grant: { ...grant, trusted: true } }), true],
      [session(), true],
    ] as const) {
      using world = watching()
      world.sessions.set('s', session({ grant }))
      world.open(app, token)
      await world.looked()
      expect(world.ends).toEqual([])
      world.sessions.set('s', after)
      await world.looked()
      expect(world.ends).toEqual(ends ? rightsChanged : [])
    }
  })

  test('of an app that requested fewer scopes continues as long as it has those', async () => {
    using world = watching()
    const grant = { clientId: 'app', scopes: ['publishing:posts.read', 'publishing:posts.write'], trusted: false }
    world.sessions.set('s', session({ grant }))
    world.open({ ...member, roles: [], clientId: 'app', scopes: ['publishing:posts.read'] }, { ...token, scopes: ['openid', 'publishing:posts.read'] })
    await world.looked()
    world.sessions.set('s', session({ grant: { ...grant, scopes: ['publishing:posts.read'] } }))
    await world.looked()
    expect(world.ends).toEqual([])
    world.sessions.set('s', session({ grant: { ...grant, scopes: ['publishing:posts.write'] } }))
    await world.looked()
    expect(world.ends).toEqual(rightsChanged)
  })

  test('of a person ends when the same session becomes an app’s', async () => {
    using world = watching()
    world.sessions.set('s', session({ grant: { clientId: 'app', scopes: [], trusted: false }, memberships: { one: [] } }))
    world.open({ ...member, roles: [] }, token)
    await world.looked()
    expect(world.ends).toEqual(rightsChanged)
  })

  test('of a cookie ends when its session switches to personal context', async () => {
    using world = watching()
    world.sessions.set('s', session())
    world.open(member, cookie)
    world.open(member, token, 'token ')
    world.sessions.set('s', session({ organizationId: null, roles: [], context: 'personal' }))
    await world.looked()
    expect(new Set(world.ends)).toEqual(new Set(['4403 rights changed']))
  })

  test('of a token ends when its signing key is distrusted', async () => {
    using world = watching()
    world.sessions.set('s', session())
    world.open(member, { ...token, kid: 'first' })
    world.open(member, { ...token, kid: 'second' }, 'second ')
    await world.looked()
    expect(world.ends).toEqual([])
    world.kids.splice(1)
    await world.looked()
    expect(new Set(world.ends)).toEqual(new Set(['second 4403 signing key distrusted']))
  })

  test('ends with its session', async () => {
    using world = watching()
    world.open(member, cookie)
    await world.looked()
    expect(world.ends).toEqual(expect.arrayContaining(['4403 session ended']))
  })

  test.each([
    ['token', token, 600_000],
    ['key', key, 1000],
  ])('of a %s ends at the moment at which that expires', async (_what, credential, lifetime) => {
    using world = watching()
    world.sessions.set('s', session())
    world.keys.set('k', { keyId: 'k', organizationId: 'one', userId: null, rateLimit: 600, scopes: [], expiresAt: credential.expiresAt })
    world.open(member, credential)
    world.clock.advance(lifetime - 1)
    await world.looked()
    expect(world.ends).toEqual([])
    world.clock.advance(1)
    await world.looked()
    expect(world.ends).toEqual(expect.arrayContaining(['4403 token expired']))
  })

  test('of a key ends when the key is revoked, and one of a key without expiry does not end before', async () => {
    using world = watching()
    world.keys.set('k', { keyId: 'k', organizationId: 'one', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
    world.open({ kind: 'apiKey', keyId: 'k', scopes: [] }, { ...key, expiresAt: null })
    world.clock.advance(10 ** 12)
    await world.looked()
    expect(world.ends).toEqual([])
    world.keys.clear()
    await world.looked()
    expect(world.ends).toEqual(expect.arrayContaining(['4403 key revoked']))
  })

  test('of a key ends when the key’s rights change', async () => {
    using world = watching()
    const scopes = ['publishing:posts.read']
    world.keys.set('k', { keyId: 'k', organizationId: 'one', userId: 'robot', rateLimit: 600, scopes, expiresAt: null })
    world.open({ kind: 'apiKey', keyId: 'k', scopes }, { ...key, expiresAt: null })
    await world.looked()
    expect(world.ends).toEqual([])
    world.keys.set('k', { keyId: 'k', organizationId: 'one', userId: 'robot', rateLimit: 600, scopes: [], expiresAt: null })
    await world.looked()
    expect(world.ends).toEqual(rightsChanged)
  })

  test('that was closed is neither checked nor ended', async () => {
    using world = watching()
    world.sessions.set('s', session())
    world.sessions.set('other', session())
    const { forget } = world.open(member, token)
    world.open(member, { ...token, id: 'other' })
    await world.looked()
    forget()
    expect(world.streams.size).toBe(1)
    await world.looked()
    expect(world.asked.at(-1)).toEqual(['other'])
    world.sessions.delete('s')
    await world.looked()
    expect(world.ends).toEqual([])
  })

  test('ends after a minute without any answer about its credentials, except an anonymous one', async () => {
    using world = watching()
    world.sessions.set('s', session())
    world.keys.set('k', { keyId: 'k', organizationId: 'one', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
    world.open(member, token, 'person ')
    world.open({ kind: 'apiKey', keyId: 'k', scopes: [] }, { ...key, expiresAt: null }, 'key ')
    world.open({}, { kind: 'none', id: null, expiresAt: null }, 'anonymous ')
    await world.looked()
    world.pass(3_600_000)
    await world.looked()
    expect(world.ends, 'after a process slept for an hour').toEqual([])
    const answer = world.hold()
    const asked = world.asked.length
    await expect.poll(() => world.asked.length, { interval: 2 }).toBeGreaterThan(asked)
    world.pass(59_999)
    await new Promise(setImmediate)
    expect(world.ends).toEqual([])
    world.pass(2)
    await expect.poll(() => new Set(world.ends)).toEqual(new Set(['person 1013 identity does not answer', 'key 1013 identity does not answer']))
    answer()
  })

  test('continues while identity answers now and then, or fails for less than a minute', async () => {
    using world = watching()
    world.sessions.set('s', session())
    world.open(member, token)
    for (let minutes = 0; minutes < 3; minutes++) {
      world.fail(true)
      world.pass(40_000)
      await world.looked()
      world.fail(false)
      await world.looked()
    }
    expect(world.ends).toEqual([])
    world.fail(true)
    await world.looked()
    world.pass(60_000)
    await expect.poll(() => world.ends).toContain('1013 identity does not answer')
  })
})
