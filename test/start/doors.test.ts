import { expect, test } from 'vitest'
import { demoPassword } from '../../subgraphs/identity/setup/demo.ts'
import { signIn } from '../kit/client.ts'
import { createTestDatabase } from '../kit/database.ts'
import { launchPlatform, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'

test('pages of CORS_ORIGINS, and in development of this machine, can sign in, read with their cookie and sign out; errors name the cause', async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase()
  const environment = { ...(await platformEnvironment(folder)), DATABASE_URL: database.url, CORS_ORIGINS: 'https://app.example' }
  const platform = launchPlatform(environment)
  const [, url = ''] = await platform.printed(readyLine)
  const post = async (path: string, origin: string, body: unknown, cookie = '') => {
    const headers = { 'content-type': 'application/json', origin, ...(cookie && { cookie }) }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const readable = answer.headers.get('access-control-allow-origin') === origin
    return { readable, status: answer.status, cookies: answer.headers.getSetCookie(), json: await answer.json() }
  }
  const credentials = { email: 'owner@demo.test', password: demoPassword }

  for (const origin of ['https://app.example', 'http://localhost:5173', 'http://127.0.0.1:5173']) {
    const signedIn = await post('/identity/api/auth/sign-in/email', origin, credentials)
    const cookie = signedIn.cookies.map(line => line.split(';', 1)[0]).join('; ')
    const read = await post('/graphql', origin, { query: '{ viewer { kind } }' }, cookie)
    expect([signedIn.readable, signedIn.status, read.readable, read.json]).toEqual([true, 200, true, { data: { viewer: { kind: 'USER' } } }])
    const foreign = await post('/identity/api/auth/sign-out', 'https://evil.example', {}, cookie)
    const signedOut = await post('/identity/api/auth/sign-out', origin, {}, cookie)
    expect([foreign.readable, foreign.status, signedOut.readable, signedOut.status]).toEqual([false, 403, true, 200])
  }

  const { json } = await post('/identity/api/auth/sign-in/email', url, credentials)
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${json.accessToken}` }
  await database.sequelize.query('alter table publishing.posts rename to posts_away')
  const graph = await fetch(`${url}/graphql`, { method: 'POST', headers, body: '{"query":"{ posts { nodes { id } } }"}' })
  const rest = await fetch(`${url}/publishing/api/posts`, { headers })
  const answers = [await graph.json(), await rest.json()]
  await database.sequelize.query('alter table publishing.posts_away rename to posts')
  const broken = expect.stringContaining('publishing.posts')
  expect(answers).toMatchObject([{ errors: [{ message: broken, extensions: { code: 'INTERNAL_SERVER_ERROR', service: 'publishing' } }] }, { detail: broken }])
  expect(JSON.stringify(answers)).not.toMatch(/stack|\.ts\b/)
  platform.child.kill('SIGTERM')
  expect(await platform.ended).toBe(0)
})

test('S-14 the registry lists a service’s addresses by audience: configured hosts, for browsers also those of this machine, and for programs the prefix', async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase()
  const environment = { ...(await platformEnvironment(folder)), DATABASE_URL: database.url }
  const addresses = async (more: Record<string, string> = {}) => {
    const platform = launchPlatform({ ...environment, ...more })
    const [, url = ''] = await platform.printed(readyLine)
    const { services } = await (await signIn(url)).query('{ services { slug addresses { role url } } }')
    platform.child.kill('SIGTERM')
    await platform.ended
    type Entry = { slug: string; addresses: { role: string; url: string }[] }
    return Object.fromEntries((services as Entry[]).map(each => [each.slug, Object.fromEntries(each.addresses.map(({ role, url }) => [role, url]))]))
  }
  const at = (host: string, path = '/') => `http://${host}:${environment.PORT}${path}`
  const usual = await addresses()
  expect(usual).toMatchObject({
    publishing: { api: at('localhost', '/publishing'), web: at('publishing.localhost') },
    launcher: { api: at('localhost', '/launcher'), dashboard: at('launcher.localhost'), marketing: at('marketing.launcher.localhost') },
  })
  const named = { PUBLISHING_API_HOST: 'api.publishing.example,old.publishing.example', PUBLISHING_WEB_HOST: 'publishing.example' }
  expect(await addresses(named)).toEqual({
    ...usual,
    publishing: { api: at('api.publishing.example'), web: at('publishing.example'), callback: at('publishing.example', '/callback') },
  })
})
