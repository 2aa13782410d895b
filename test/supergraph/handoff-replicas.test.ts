import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../platform/clock.ts'
import { provision } from '../../subgraphs/identity/setup/provision.ts'
import { mode } from '../kit/assembled.ts'
import { dial } from '../kit/bare-socket.ts'
import { askAt, signIn } from '../kit/client.ts'
import { createTestDatabase } from '../kit/database.ts'
import { identityOf } from '../kit/identity.ts'
import { launchPlatform, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'
import { startProcesses } from '../kit/processes.ts'

const [email, password] = ['owner@handed.test', 'a password of this test']
const opened = new AsyncDisposableStack()
/** Where two replicas answer: two whole platforms on one database, or two routers. */
let replicas: readonly string[]

beforeAll(async () => {
  const database = opened.use(await createTestDatabase())
  await provision(identityOf(database.sequelize, systemClock), {
    password,
    people: [{ email, name: 'Owner' }],
    organizations: [{ slug: 'handed', name: 'Handed', members: [{ email, roles: ['owner'] }] }],
    keys: [],
  })
  if (mode !== 'embedded') {
    replicas = opened.use(await startProcesses(database.url, { services: ['identity', 'publishing'] })).routers
    return
  }
  const secrets = { AUTH_SECRET: randomBytes(32).toString('hex'), ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` }
  const urls: string[] = []
  for (let at = 0; at < 2; at += 1) {
    const own = await platformEnvironment(opened.use(newDataFolder()))
    urls.push(`http://localhost:${own.PORT}`)
    const { child, ended, printed } = launchPlatform({ ...own, ...secrets, DEMO: '0', DATABASE_URL: database.url, PUBLIC_URL: urls[0]! })
    opened.defer(async () => {
      child.kill('SIGKILL')
      await ended
    })
    await printed(readyLine)
  }
  replicas = urls
}, 180_000)
afterAll(() => opened.disposeAsync())

const post = (url: string, path: string, body: object, token?: string) =>
  fetch(`${url}/identity/api/auth/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** What a replica answers to who shows a token: the kind of its viewer, or why there is none. */
async function kindAt(url: string, token: string): Promise<string> {
  const { data, errors } = (await (
    await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(token) },
      body: '{"query":"{ viewer { kind } }"}',
    })
  ).json()) as { data?: { viewer: { kind: string } }; errors?: { extensions: { code: string } }[] }
  return data?.viewer.kind ?? errors![0]!.extensions.code
}

/** A session at the first replica, and one from its handoff that began at the second. */
async function chain() {
  const [first = '', second = ''] = replicas
  const origin = await signIn(first, email, password)
  const minted = (await (await post(first, 'handoff', { service: 'publishing' }, origin.token)).json()) as { code: string; service: { id: string } }
  const exchanged = await post(second, 'sso/exchange', { code: minted.code, serviceId: minted.service.id })
  const derived = (await exchanged.json()) as { accessToken: string }
  return { first, second, origin: origin.token, derived: derived.accessToken }
}

describe('a session from a handoff, over two replicas', () => {
  it('ends at both when its parent session is signed out at one', async () => {
    const { first, second, origin, derived } = await chain()
    // Both remember it from here on.
    expect(await Promise.all([first, second].flatMap(url => [kindAt(url, derived), kindAt(url, origin)]))).toEqual(Array(4).fill('USER'))
    const wire = await dial(second)
    await wire.init({ authorization: `Bearer ${derived}` })
    wire.subscribe('a', 'subscription { widgetUpdated { __typename } }')
    expect((await post(first, 'sign-out', {}, origin)).ok).toBe(true)
    for (const url of [first, second]) await expect.poll(() => kindAt(url, derived)).toBe('UNAUTHENTICATED')
    expect((await wire.closed).code).toBe(4403)
  })

  it('ends at both when its parent session is revoked at the other', async () => {
    const { first, second, origin, derived } = await chain()
    expect(await Promise.all([first, second].map(url => kindAt(url, derived)))).toEqual(['USER', 'USER'])
    const other = await signIn(second, email, password)
    const sid = JSON.parse(Buffer.from(origin.split('.')[1]!, 'base64url').toString()).sid as string
    const answer = await askAt(
      second,
      'mutation($input: RevokeSessionInput!) { revokeSession(input: $input) { __typename } }',
      { input: { id: sid } },
      bearer(other.token),
    )
    answer.data()
    for (const url of [first, second]) await expect.poll(() => kindAt(url, derived)).toBe('UNAUTHENTICATED')
    expect(await kindAt(first, other.token)).toBe('USER')
  })

  it('leaves its parent session at both when it is signed out itself', async () => {
    const { first, second, origin, derived } = await chain()
    expect((await post(second, 'sign-out', {}, derived)).ok).toBe(true)
    for (const url of [first, second]) await expect.poll(() => kindAt(url, derived)).toBe('UNAUTHENTICATED')
    expect(await Promise.all([first, second].map(url => kindAt(url, origin)))).toEqual(['USER', 'USER'])
  })
})
