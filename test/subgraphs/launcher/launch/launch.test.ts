import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../../../config.ts'
import { newId } from '../../../../platform/ids.ts'
import { define } from '../../../../subgraphs/identity/definition.ts'
import { personalScopes } from '../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { key, personally } from '../../../kit/viewers.ts'
import { seedAttention } from '../action-item/seed.ts'
import { type LaunchStage, launchStage, publishing } from './stage.ts'

/** Of another process of identity on the same database. */
const identitySettings = {
  ...{ secret: 'x'.repeat(32), trustsOrigin: () => false, clientAddressHeader: 'x-client-address', signUp: 'open' as const },
  ...{ registry: { production: null }, foreignIssuer: null, mobileBuilds: {} },
  ...{ quotas: readConfig({}).quotas, retention: readConfig({}).retention, mail: readConfig({}).mail },
}

let stage: LaunchStage
let owner: Viewer
beforeAll(async () => {
  stage = await launchStage()
  owner = stage.owner
})
afterAll(() => stage[Symbol.asyncDispose]())
// What a test has launched does not count for the next one.
beforeEach(() => stage.graph.clock.advance(61_000))

const made = async (input: object, as?: Viewer) => (await stage.launchApp(input, as)).data().launchApp
const codeOf = (launch: { steps: { url: string }[] }) => new URL(launch.steps.at(-1)!.url).searchParams.get('sso_code')!
const kept = () => stage.graph.rows<{ status: string }>('select status from launcher.launches where user_id = $1', [owner.userId])
const alone = () => ({ ...personally(owner), scopes: personalScopes })

describe('launchApp', () => {
  it('answers with a code that signs the same person in at the app, in the same organization, at the path', async () => {
    const launch = await made({ app: 'publishing', returnTo: '/posts?status=failed', source: 'WIDGET' })
    expect(launch).toMatchObject({
      ...{ app: 'publishing', title: 'Publishing', status: 'READY', source: 'WIDGET', platform: 'WEB', failure: null },
      ...{ icon: 'http://localhost:4000/launcher/icons/publishing', entry: { id: await stage.serviceId('publishing') } },
      ...{ steps: [{ kind: 'WEB', url: expect.stringMatching(/^http:\/\/publishing\.test\/callback\?sso_code=[\w-]{43}&icon=/) }] },
      expiresAt: stage.graph.clock.in(60_000).toISOString(),
    })
    const done = await stage.exchange(codeOf(launch), publishing)
    expect([done.status, done.json]).toMatchObject([
      200,
      { user: { id: owner.userId }, organizationId: stage.organizationId, returnTo: '/posts?status=failed', service: { slug: 'publishing' } },
    ])
  })

  it('makes a code that ends with the session it was made in, and with no other', async () => {
    const [ending, staying] = [await stage.session(), await stage.session()]
    const codes = [codeOf(await made({ app: 'publishing' }, ending.viewer)), codeOf(await made({ app: 'publishing' }, staying.viewer))]
    await stage.door.ask('POST', '/identity/api/auth/sign-out', { headers: { authorization: ending.authorization } })
    expect((await stage.exchange(codes[0]!, publishing)).json).toMatchObject({ code: 'BAD_USER_INPUT', reason: 'CODE' })
    expect((await stage.exchange(codes[1]!, publishing)).status).toBe(200)
  })

  it('keeps no code anywhere: history is without steps, and the database without the text', async () => {
    const launch = await made({ app: 'publishing' })
    const code = codeOf(launch)
    const history = (await stage.graph.execute('{ launches(first: 1) { nodes { id steps { url } expiresAt status } } }', {}, { as: owner })).data()
    expect(history.launches.nodes).toEqual([{ id: launch.id, steps: [], expiresAt: launch.expiresAt, status: 'READY' }])
    const stored = await stage.graph.rows<{ line: string }>(
      `select l::text as line from launcher.launches l union all select k::text from launcher.idempotency_keys k union all select a::text from launcher.audit_entries a`,
    )
    expect(stored.length).toBeGreaterThan(0)
    expect(stored.filter(({ line }) => line.includes(code))).toEqual([])
    expect(stage.graph.log.filter(line => line.includes(code))).toEqual([])
  })

  it.each([
    ['payments', 'NOT_INSTALLED'],
    ['address-check', 'NOT_LAUNCHABLE'],
    ['nowhere-app', 'NOT_LAUNCHABLE'],
    ['day-planner', 'CONTEXT'],
  ])('answers for %s with a launch that failed for %s, without steps', async (app, code) => {
    const launch = await made({ app })
    expect(launch).toMatchObject({ app, status: 'FAILED', steps: [], expiresAt: null, failure: { code, retryable: false, retryAfterSeconds: null } })
    expect(launch.failure.message).toMatch(/^[A-Z].{15,}\.$/)
  })

  it('answers for an app under maintenance when to try again, and opens it afterwards', async () => {
    const until = stage.graph.clock.in(90_000)
    await stage.graph.rows(`update launcher.catalog_entries set maintenance_until = $1 where app = 'agents'`, [until])
    const launch = await made({ app: 'agents' })
    expect(launch).toMatchObject({ status: 'FAILED', steps: [], failure: { code: 'MAINTENANCE', retryable: true, retryAfterSeconds: 90 } })
    await stage.graph.clock.advance(90_000)
    expect((await made({ app: 'agents' })).status).toBe('READY')
    const { launch: later } = (await stage.graph.execute(`{ launch(id: "${launch.id}") { failure { retryAfterSeconds } } }`, {}, { as: owner })).data()
    expect(later.failure.retryAfterSeconds).toBeNull()
  })

  it('answers with HANDOFF_FAILED for a session that is over', async () => {
    expect(await made({ app: 'publishing' }, { ...owner, sessionId: newId() })).toMatchObject({ status: 'FAILED', failure: { code: 'HANDOFF_FAILED' } })
  })

  it('gives apps of third parties no code: they have people sign in by us, or are opened as they are', async () => {
    const board = await made({ app: 'team-board', returnTo: '/boards/1' })
    const url = new URL(board.steps[0].url)
    expect([board.steps.length, board.expiresAt, `${url.origin}${url.pathname}`, Object.fromEntries(url.searchParams)]).toEqual([
      ...[1, null, 'https://team-board.test/login'],
      { iss: 'http://localhost:4000', target_link_uri: 'https://team-board.test/boards/1' },
    ])
    expect((await made({ app: 'route-finder', platform: 'IOS' })).steps).toEqual([{ kind: 'WEB', url: 'https://route-finder.test/home' }])
    const handoffs = await stage.graph.rows(`select from identity.audit_entries where action = 'handoff.created' and at = $1`, [stage.graph.clock.in(0)])
    expect(handoffs).toEqual([])
  })

  it('opens the launcher without an installation, also in personal context', async () => {
    expect((await made({ app: 'launcher' })).status).toBe('READY')
    const launch = await made({ app: 'launcher' }, alone())
    expect((await stage.exchange(codeOf(launch), 'http://localhost:4000')).status).toBe(400)
    expect(launch.status).toBe('READY')
    expect((await made({ app: 'publishing' }, alone())).failure.code).toBe('CONTEXT')
  })

  it('opens the app of an action item at the item’s address, for those who see it alone', async () => {
    const item = await seedAttention(stage.graph, { organizationId: stage.organizationId })
    const launch = await made({ actionItemId: item.id, source: 'ACTION' })
    const { app, url } = (await stage.graph.rows<{ app: string; url: string }>('select app, url from launcher.action_items where id = $1', [item.id]))[0]!
    expect([launch.app, launch.status]).toEqual([app, 'READY'])
    const { json } = await stage.exchange(codeOf(launch), publishing)
    expect(json.returnTo).toBe(new URL(url).pathname.replace(`/${app}/`, '/'))
    ;(await stage.launchApp({ actionItemId: item.id, source: 'ACTION' }, alone())).refused('NOT_FOUND')
  })

  it.each([
    ['neither app nor item', {}, 'BAD_USER_INPUT'],
    ['both', { app: 'publishing', actionItemId: newId() }, 'BAD_USER_INPUT'],
    ['a path beside an item', { actionItemId: newId(), returnTo: '/posts' }, 'BAD_USER_INPUT'],
    ['a path that leads elsewhere', { app: 'publishing', returnTo: '//evil.test' }, 'BAD_USER_INPUT'],
    ['an unknown app', { app: 'nowhere' }, 'NOT_FOUND'],
    ['an unknown item', { actionItemId: newId() }, 'NOT_FOUND'],
  ] as const)('refuses %s and stores nothing', async (_, input, code) => {
    const before = (await kept()).length
    ;(await stage.launchApp(input)).refused(code)
    expect(await kept()).toHaveLength(before)
  })

  it('is refused to keys and services', async () => {
    ;(await stage.launchApp({ app: 'publishing' }, key(stage.organizationId, ['launcher:launcher.read', 'launcher:launches.read']))).refused(
      'UNAUTHORIZED_FIELD_OR_TYPE',
    )
  })

  it('answers a repeated idempotencyKey with the first launch, without its steps and without another code', async () => {
    const first = await made({ app: 'publishing', idempotencyKey: 'once' })
    expect(await made({ app: 'publishing', idempotencyKey: 'once' })).toMatchObject({ id: first.id, status: 'READY', steps: [] })
    expect((await stage.launchApp({ app: 'agents', idempotencyKey: 'once' })).refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
    const handoffs = await stage.graph.rows(`select from identity.audit_entries where action = 'handoff.created' and at = $1`, [stage.graph.clock.in(0)])
    expect(handoffs).toHaveLength(1)
    expect((await stage.exchange(codeOf(first), publishing)).status).toBe(200)
  })

  it('opens thirty apps within a minute, keeps as many refused attempts, and refuses the rest', async () => {
    const answers = await Promise.all(Array.from({ length: 65 }, () => stage.launchApp({ app: 'route-finder' }, stage.peer)))
    const codes = answers.map(({ error, partial }) => error?.extensions?.code ?? partial.data!.launchApp.failure?.code ?? 'READY')
    const count = (code: string) => codes.filter(each => each === code).length
    const limited = answers.filter(({ partial }) => partial.data?.launchApp?.failure)
    expect([count('READY'), limited.length, answers.filter(({ error }) => error?.extensions?.code === 'RATE_LIMITED').length]).toEqual([30, 30, 5])
    expect(limited[0]!.partial.data!.launchApp.failure).toMatchObject({ code: 'RATE_LIMITED', retryable: true, retryAfterSeconds: 60 })
    await stage.graph.clock.advance(60_000)
    expect((await made({ app: 'route-finder' }, stage.peer)).status).toBe('READY')
  })

  it('costs no more statements of the launcher than it is known to', async () => {
    const statements = await stage.graph.statements(() => made({ app: 'publishing' }))
    const own = statements.filter(text => text.includes('launcher.'))
    expect(own.length, own.join('\n')).toBeLessThanOrEqual(6)
  })
})

describe('launches', () => {
  const ids = async (as: Viewer) =>
    (await stage.graph.execute('{ launches(first: 3) { nodes { id } totalCount } }', {}, { as })).data().launches.nodes.map(({ id }: { id: string }) => id)

  it('are the person’s own in the active context, newest first', async () => {
    const first = await made({ app: 'publishing' })
    await stage.graph.clock.advance(1000)
    const second = await made({ app: 'agents' })
    const personal = await made({ app: 'launcher' }, alone())
    expect((await ids(owner)).slice(0, 2)).toEqual([second.id, first.id])
    expect((await ids(alone()))[0]).toBe(personal.id)
    expect(await ids(alone())).not.toContain(first.id)
    expect(await ids(stage.peer)).not.toContain(first.id)
    expect(await ids(key(stage.organizationId, ['launcher:launches.read']))).toEqual([])
  })

  it('are NOT_FOUND for everybody else, and in another context', async () => {
    const { id } = await made({ app: 'publishing' })
    const read = (as: Viewer) => stage.graph.execute(`{ launch(id: "${id}") { id } }`, {}, { as })
    expect((await read(owner)).data().launch.id).toBe(id)
    for (const as of [stage.peer, alone(), key(stage.organizationId, ['launcher:launches.read'])]) (await read(as)).refused('NOT_FOUND')
  })
})

describe('reportLaunch', () => {
  const report = (id: string, input: object, as = owner) =>
    stage.graph.execute(
      'mutation($input: ReportLaunchInput!) { reportLaunch(input: $input) { status failure { code message } } }',
      { input: { id, ...input } },
      { as },
    )

  it('says once how a launch ended', async () => {
    const [opened, lost] = [await made({ app: 'publishing' }), await made({ app: 'publishing' })]
    expect((await report(opened.id, { outcome: 'OPENED' })).data().reportLaunch).toEqual({ status: 'OPENED', failure: null })
    expect((await report(opened.id, { outcome: 'OPENED' })).data().reportLaunch.status).toBe('OPENED')
    expect((await report(opened.id, { outcome: 'FAILED' })).refused('CONFLICT').extensions.reason).toBe('DECIDED')
    const failure = { code: 'CLIENT_FAILED', message: 'The window was blocked' }
    expect((await report(lost.id, { outcome: 'FAILED', message: 'The window was blocked' })).data().reportLaunch).toEqual({ status: 'FAILED', failure })
  })

  it('is refused for somebody else’s launch, and for a long message', async () => {
    const { id } = await made({ app: 'publishing' })
    ;(await report(id, { outcome: 'OPENED' }, stage.peer)).refused('NOT_FOUND')
    expect((await report(id, { outcome: 'FAILED', message: 'x'.repeat(501) })).refused('BAD_USER_INPUT').extensions.field).toBe('message')
  })

  it('lets one of two different reports at once win', async () => {
    const { id } = await made({ app: 'publishing' })
    const answers = await Promise.all(['OPENED', 'FAILED'].map(outcome => report(id, { outcome })))
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1)
  })
})

describe('a code of a launch', () => {
  it('is exchanged by one of twenty requests at once, over two processes', async () => {
    // Stopping the second process may end what the first one shares with it here, so nothing else is tried on this stage.
    await using own = await launchStage()
    const identity = define({ ...own.graph.platform.launcher.at.foundation, metrics: new Registry() }, identitySettings)
    const code = codeOf((await own.launchApp({ app: 'publishing' })).data().launchApp)
    const headers = { origin: publishing, 'content-type': 'application/json' }
    const body = JSON.stringify({ code })
    const exchanges = Array.from({ length: 20 }, (_, at) =>
      at % 2 === 0
        ? own.exchange(code, publishing)
        : identity.http(new Request('http://localhost:4000/identity/api/auth/sso/exchange', { method: 'POST', headers, body })),
    )
    const answers = await Promise.all(exchanges)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(400)])
    await identity.stop()
  })
})
