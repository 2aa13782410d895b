import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Door, openDoor } from '../../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { seedRecovery } from './seed.ts'

const password = 'correct horse battery'
const [email, api] = ['ada@acme.test', '/launcher/api/auth']

let graph: Supergraph
let door: Door
let userId: string
let secret: string
beforeAll(async () => {
  graph = await supergraph({ now: new Date().toISOString() })
  door = await openDoor(graph)
  const made = await graph.platform.identity.provision({
    password,
    people: [{ email, name: 'Ada Both' }],
    organizations: [{ slug: 'acme', name: 'Acme', members: [{ email, roles: ['owner'] }] }],
    keys: [{ organization: 'acme', name: 'reader', scopes: ['launcher:launcher.read'], createdBy: email }],
  } as never)
  userId = made.users[email]!
  secret = made.keys.reader!.secret!
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

const bearer = () => door.signIn(email, password)
const onHost = { host: 'launcher.localhost:4000' }

describe('GET …/auth/me of the launcher', () => {
  it('answers what identity does, and how far the person is', async () => {
    const headers = await bearer()
    const [theirs, ours] = [await door.ask('GET', '/identity/api/auth/me', { headers }), await door.ask('GET', `${api}/me`, { headers })]
    expect([ours.status, ours.headers['cache-control']]).toEqual([200, 'no-store'])
    const { ready, onboarding, selectedHouseholdId, selectedHousehold, ...shared } = ours.json
    expect(shared).toEqual(theirs.json)
    expect({ ready, selectedHouseholdId, selectedHousehold }).toEqual({ ready: true, selectedHouseholdId: null, selectedHousehold: null })
    expect(onboarding).toEqual({ state: 'recovery_email', serviceId: expect.any(String), next: '/onboarding' })
  })

  it('goes on with the organization, and in personal context with nothing', async () => {
    await seedRecovery(graph, { userId })
    const headers = await bearer()
    expect((await door.ask('GET', `${api}/me`, { headers })).json.onboarding).toMatchObject({ state: 'service', next: '/onboarding' })
    const query = 'mutation { switchContext(input: { context: PERSONAL }) { accessToken } }'
    const { accessToken } = (await door.ask('POST', '/graphql', { headers, body: { query } })).json.data.switchContext
    const alone = await door.ask('GET', `${api}/me`, { headers: { authorization: `Bearer ${accessToken}` } })
    expect(alone.json).toMatchObject({ context: 'personal', organization: null, roles: [], onboarding: { state: 'done', next: '/dashboard' } })
    expect((await door.ask('GET', `${api}/me/recovery-email`, { headers })).json).toMatchObject({ email: `${userId}@recovery.test`, status: 'verified' })
  })

  it('stands in for identity’s row on the dashboard’s host, and leaves it the others', async () => {
    const headers = { ...(await bearer()), ...onHost }
    expect((await door.ask('GET', '/api/auth/me', { headers })).json.ready).toBe(true)
    const changed = await door.ask('PUT', '/api/auth/me/recovery-email', { headers, body: { email: 'ada@second.test' } })
    expect([changed.status, changed.json.pendingEmail]).toEqual([200, 'ada@second.test'])
    expect((await door.ask('GET', '/api/auth/me/recovery-email', { headers })).json.pendingEmail).toBe('ada@second.test')
  })

  it('leaves the marketing host identity’s own answer', async () => {
    const answer = await door.ask('GET', '/api/auth/me', { headers: { ...(await bearer()), host: 'marketing.launcher.localhost:4000' } })
    expect([answer.json.user.email, answer.json.ready]).toEqual([email, undefined])
  })

  it('is 401 without credentials and 403 for a key', async () => {
    const anonymous = await door.ask('GET', `${api}/me`)
    expect([anonymous.status, anonymous.json.code]).toEqual([401, 'UNAUTHENTICATED'])
    expect((await door.ask('GET', `${api}/me`, { headers: { 'x-api-key': secret } })).status).toBe(403)
  })
})

describe('pages of the dashboard’s host', () => {
  it('lead a person to the onboarding until it is done, and away from it afterwards', async () => {
    const entered = await door.ask('POST', '/api/auth/sign-in/email', {
      headers: onHost,
      body: { email, password },
    })
    const cookie = [entered.headers['set-cookie']]
      .flat()
      .map(line => String(line).split(';')[0])
      .join('; ')
    const at = async (path: string) => (await door.ask('GET', path, { headers: { ...onHost, cookie, accept: 'text/html' } })).headers.location
    expect([await at('/dashboard'), await at('/login')]).toEqual(['/onboarding', '/onboarding'])
    const headers = await bearer()
    const { serviceId } = (await door.ask('GET', `${api}/me`, { headers })).json.onboarding
    const done = await door.ask('POST', '/launcher/api/onboarding/complete', { headers, body: { serviceId } })
    expect([done.status, done.json.state]).toEqual([200, 'done'])
    expect([await at('/onboarding'), await at('/login'), await at('/dashboard')]).toEqual(['/dashboard', '/dashboard', undefined])
  })
})
