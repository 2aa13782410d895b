import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { type LaunchStage, launchStage, publishing } from './stage.ts'

let stage: LaunchStage
let service: string
beforeAll(async () => {
  stage = await launchStage()
  service = await stage.serviceId('publishing')
})
afterAll(() => stage[Symbol.asyncDispose]())
// What a test has launched does not count for the next one.
beforeEach(() => stage.graph.clock.advance(61_000))

const agents = {
  desk: 'Mozilla/5.0 (X11; Linux x86_64)',
  iphone: 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X)',
  android: 'Mozilla/5.0 (Linux; Android 16)',
} as const
const made = async (input: object, as = stage.owner) => (await stage.launchApp({ app: 'publishing', ...input }, as)).data().launchApp
const codeOf = (launch: { steps: { url: string }[] }) => new URL(launch.steps.at(-1)!.url).searchParams.get('sso_code')!
const follow = (serviceId: string, code: string | null, agent: keyof typeof agents = 'desk', accept = 'text/html') =>
  stage.door.ask('GET', `/launcher/launch/${serviceId}${code === null ? '' : `?code=${code}`}`, { headers: { 'user-agent': agents[agent], accept } })

describe('steps on a phone', () => {
  it('are the link, the store and the page, all with one code, where there is a native app', async () => {
    const launch = await made({ platform: 'IOS' })
    const code = codeOf(launch)
    expect(launch.steps).toEqual([
      { kind: 'UNIVERSAL_LINK', url: `http://localhost:4000/launcher/launch/${service}?code=${code}` },
      { kind: 'APP_STORE', url: 'https://store.test/publishing-ios' },
      { kind: 'WEB', url: expect.stringContaining(`${publishing}/callback?sso_code=${code}`) },
    ])
    expect((await made({ platform: 'ANDROID' })).steps.map(({ kind }: { kind: string }) => kind)).toEqual(['UNIVERSAL_LINK', 'WEB'])
  })

  it('are the page alone where there is none', async () => {
    expect((await made({ app: 'agents', platform: 'IOS' })).steps.map(({ kind }: { kind: string }) => kind)).toEqual(['WEB'])
  })
})

describe('GET /launch/:serviceId', () => {
  it('leads to the app with the code, uses nothing up, and is neither cached nor sent as a referrer', async () => {
    const launch = await made({})
    const code = codeOf(launch)
    for (const answer of [await follow(service, code), await follow(service.toUpperCase(), code)])
      expect([answer.status, answer.headers]).toMatchObject([
        302,
        { location: launch.steps[0].url, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
      ])
    expect((await stage.exchange(code, publishing)).status).toBe(200)
    expect(stage.graph.log.filter(line => line.includes(code))).toEqual([])
  })

  it('leads to the store on a phone whose native app is in one', async () => {
    const code = codeOf(await made({ platform: 'IOS' }))
    const locations = [await follow(service, code, 'iphone'), await follow(service, code, 'android')].map(({ headers }) => headers.location)
    expect(locations).toEqual(['https://store.test/publishing-ios', expect.stringContaining(`${publishing}/callback?sso_code=${code}`)])
  })

  it('shows a page with a way back for a code that no launch made for the service', async () => {
    const code = codeOf(await made({}))
    const minted = (await stage.graph.execute('mutation { createHandoff(input: { service: "publishing" }) { code } }', {}, { as: stage.owner })).data()
    const answers = await Promise.all([
      follow(service, randomBytes(32).toString('base64url')),
      follow(await stage.serviceId('agents'), code),
      follow(newId(), code),
      follow(service, null),
      follow('publishing', code),
      follow(service, minted.createHandoff.code),
    ])
    for (const { status, headers, text } of answers) {
      expect([status, headers.location, headers['cache-control'], headers['referrer-policy']]).toEqual([400, undefined, 'no-store', 'no-referrer'])
      expect(text).toContain('<a href="http://localhost:4000/launcher/dashboard">')
      expect(text).not.toContain(code)
    }
    expect((await follow(service, 'x', 'desk', 'application/json')).json).toMatchObject({ status: 400, code: 'BAD_USER_INPUT', reason: 'CODE' })
  })

  it('leads nowhere once the code was used, has expired, or its session has ended', async () => {
    const used = codeOf(await made({}))
    await stage.exchange(used, publishing)
    expect((await follow(service, used)).status).toBe(400)
    const { viewer, authorization } = await stage.session()
    const ended = codeOf(await made({}, viewer))
    expect((await follow(service, ended)).status).toBe(302)
    await stage.door.ask('POST', '/identity/api/auth/sign-out', { headers: { authorization } })
    expect((await follow(service, ended)).status).toBe(400)
    const old = codeOf(await made({}))
    await stage.graph.clock.advance(60_000)
    expect((await follow(service, old)).status).toBe(400)
  })
})

describe('the association files', () => {
  it('name the native apps and their links, the same on every host', async () => {
    const [apple, android] = await Promise.all(
      ['apple-app-site-association', 'assetlinks.json'].map(name => stage.door.ask('GET', `/.well-known/${name}`, { headers: { host: 'publishing.test' } })),
    )
    expect([apple!.status, apple!.headers['content-type'], apple!.json]).toEqual([
      ...[200, 'application/json'],
      { applinks: { details: [{ appIDs: ['TEAM123456.test.publishing'], components: [{ '/': `/launcher/launch/${service}` }] }] } },
    ])
    expect([android!.status, android!.headers['content-type'], android!.json]).toEqual([
      ...[200, 'application/json'],
      [
        {
          relation: ['delegate_permission/common.handle_all_urls'],
          target: { namespace: 'android_app', package_name: 'test.publishing', sha256_cert_fingerprints: [expect.stringMatching(/^AB(?::AB){31}$/)] },
        },
      ],
    ])
  })
})
