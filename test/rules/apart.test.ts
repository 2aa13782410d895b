import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { portFor } from '../../router/start/apart/ports.ts'
import { readReplicas } from '../../router/start/apart/replicas.ts'
import { openSharedSecrets } from '../../router/start/apart/secrets.ts'
import { openAppTokens } from '../../router/start/keys.ts'
import { listedSlugs } from '../../router/start/registry.ts'
import { newDataFolder } from '../kit/launch.ts'

describe('--replicas', () => {
  const counts = (text: string) => Object.fromEntries(readReplicas(text))
  const once = Object.fromEntries([...listedSlugs, 'router'].map(name => [name, 1]))

  test.each([
    ['', {}],
    ['publishing=2,router=3', { publishing: 2, router: 3 }],
    [' publishing=16 , identity=1,', { publishing: 16 }],
    ['router=2,router=4', { router: 4 }],
  ])('%j means so many, and one of each other', (text, more) => {
    expect(counts(text)).toEqual({ ...once, ...more })
  })

  test.each([
    'publishing=0',
    'publishing=17',
    'publishing',
    'publishing=',
    'publishing=two',
    'publishing=-1',
    'nobody=2',
    '=2',
    'publishing=2 router=2',
    'publishing=2;router=2',
  ])('%j is a mistake that names what is not understood', text => {
    expect(() => readReplicas(text)).toThrow(`"${text}" is not understood`)
  })
})

test('gives a process the preferred port, or another one if that is taken or invalid', async () => {
  await using stack = new AsyncDisposableStack()
  const server = createServer()
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  stack.defer(() => new Promise<void>(done => server.close(() => done())))
  const { port: busy } = server.address() as { port: number }
  const taken = new Set<number>()
  const free = await portFor(0, taken)
  expect([free > 0 && free <= 65_535, [...taken]]).toEqual([true, [free]])
  expect(await portFor(free, new Set())).toBe(free)
  for (const [wanted, given] of [
    [free, taken],
    [busy, new Set<number>()],
    [65_536, new Set<number>()],
  ] as const) {
    const port = await portFor(wanted, given)
    expect([port === wanted, port > 0 && port <= 65_535, given.has(port)]).toEqual([false, true, true])
  }
})

describe('the secrets of processes apart', () => {
  const open = (dataDir: string, more: Record<string, string> = {}) => openSharedSecrets(readConfig({ DATA_DIR: dataDir, ...more }))

  test('give each subgraph its own token only, and the viewers’ signing key to routers only', async () => {
    await using folder = newDataFolder()
    const { subgraph, router } = open(folder.path)
    const ofRouter = router.APP_SERVICE_TOKENS!.split(',')
    expect(ofRouter.map(pair => pair.split(':')[0]).sort()).toEqual(listedSlugs.map(slug => `app_${slug}`).sort())
    expect(new Set(ofRouter.map(pair => pair.split(':')[1])).size).toBe(listedSlugs.length)
    for (const slug of listedSlugs) {
      expect(subgraph(slug).APP_SERVICE_TOKENS).toBe(ofRouter.find(pair => pair.startsWith(`app_${slug}:`)))
      expect(Object.keys(subgraph(slug)).sort()).toEqual(['APP_SERVICE_TOKENS', 'AUTH_SECRET', 'ENCRYPTION_KEYS', 'SEAL_PUBLIC_KEYS'])
      expect(subgraph(slug).SEAL_PUBLIC_KEYS).not.toContain(router.SEAL_PRIVATE_KEY!.split(':')[1])
    }
    const ofGateway = ['PROVIDERS_SERVICE_TOKEN', 'SETTLEMENT_PAYMENTS_SERVICE_TOKEN', 'SUPPORT_PROVIDERS_SERVICE_TOKEN', 'TRUSTED_SERVICE_TOKENS']
    expect(Object.keys(router).sort()).toEqual(['APP_SERVICE_TOKENS', ...ofGateway, 'SEAL_PRIVATE_KEY'].sort())
  })

  test('are generated once, readable by their owner only, and replaced by configured ones', async () => {
    await using folder = newDataFolder()
    const [first, second] = [open(folder.path), open(folder.path)]
    expect([second.router, second.natsToken, second.subgraph('agents')]).toEqual([first.router, first.natsToken, first.subgraph('agents')])
    expect(statSync(join(folder.path, 'apart-keys.json')).mode & 0o777).toBe(0o600)
    const configured = open(folder.path, { AUTH_SECRET: 'x'.repeat(32) })
    expect([configured.subgraph('agents').AUTH_SECRET, configured.router]).toEqual(['x'.repeat(32), first.router])
  })

  test('of single apps at single services are the routers’, and the app’s own', async () => {
    await using folder = newDataFolder()
    const tokens = {
      PROVIDERS_SERVICE_TOKEN: 'p'.repeat(32),
      TRUSTED_SERVICE_TOKENS: 't'.repeat(32),
      PUBLISHING_PROVIDERS_SERVICE_TOKEN: 'u'.repeat(32),
      SETTLEMENT_PAYMENTS_SERVICE_TOKEN: 's'.repeat(32),
    }
    const { subgraph, router } = open(folder.path, tokens)
    expect(router).toMatchObject(tokens)
    const known = (slug: 'publishing' | 'providers' | 'payments') => Object.keys(subgraph(slug)).filter(name => name in tokens)
    expect([known('publishing'), known('providers'), known('payments')]).toEqual([['PUBLISHING_PROVIDERS_SERVICE_TOKEN'], [], []])
  })

  test.each([
    'nonsense',
    '{}',
    '{"sealKey":"dG9vIHNob3J0","natsToken":"t"}',
    'null',
  ])('that cannot be read are told, and nothing is made in their place: %s', async text => {
    await using folder = newDataFolder()
    const file = join(folder.path, 'apart-keys.json')
    writeFileSync(file, text)
    expect(() => open(folder.path)).toThrow(/cannot be read \(it is damaged\): remove it/)
    expect(readFileSync(file, 'utf8')).toBe(text)
  })
})

describe('the tokens of services', () => {
  const open = (dataDir: string, more: Record<string, string> = {}) => openAppTokens(readConfig({ DATA_DIR: dataDir, ...more }, { secrets: false }))

  test('are generated once in development, one for each service, readable by their owner only; elsewhere they are configured', async () => {
    await using folder = newDataFolder()
    const made = open(folder.path)
    expect([...made.keys()].sort()).toEqual(listedSlugs.map(slug => `app_${slug}`).sort())
    expect(new Set([...made.values()].flat()).size).toBe(listedSlugs.length)
    expect(open(folder.path)).toEqual(made)
    const file = join(folder.path, 'service-tokens.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(open(folder.path, { ENVIRONMENT: 'production' }).size).toBe(0)
    const [old, next] = ['o'.repeat(32), 'n'.repeat(32)]
    expect(open(folder.path, { APP_SERVICE_TOKENS: `app_agents:${old},app_agents:${next}` })).toEqual(new Map([['app_agents', [old, next]]]))
    const kept = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...kept, app_agents: 'short' }))
    const mended = open(folder.path)
    expect(mended.get('app_launcher')).toEqual(made.get('app_launcher'))
    expect(mended.get('app_agents')![0]!.length).toBeGreaterThanOrEqual(32)
    writeFileSync(file, 'nonsense')
    expect(() => open(folder.path)).toThrow(/cannot be read \(it is damaged\): remove it/)
  })

  test.each([
    ['PROVIDERS_SERVICE_TOKEN', 'x'.repeat(31)],
    ['TRUSTED_SERVICE_TOKENS', `${'x'.repeat(32)},${'y'.repeat(31)}`],
    ['SUPPORT_PROVIDERS_SERVICE_TOKEN', 'x'.repeat(31)],
    ['APP_SERVICE_TOKENS', `app_agents:${'x'.repeat(31)}`],
  ])('of %s have 32 characters at least', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name}: must`))
  })

  test('of single apps are read by their names, in any number', () => {
    const [one, two] = ['o'.repeat(32), 't'.repeat(32)]
    const { callers } = readConfig({
      PROVIDERS_SERVICE_TOKEN: one,
      TRUSTED_SERVICE_TOKENS: `${two}, ${one}`,
      MAIL_ROOM_PROVIDERS_SERVICE_TOKEN: `${one},${two}`,
      SETTLEMENT_PAYMENTS_SERVICE_TOKEN: two,
      SETTLEMENT_WEATHER_SERVICE_TOKEN: 'of nobody',
    })
    expect(callers).toEqual({
      primary: one,
      staged: [two, one],
      dedicated: [
        { appId: 'app_mail_room', at: 'providers', token: one },
        { appId: 'app_mail_room', at: 'providers', token: two },
        { appId: 'app_settlement', at: 'payments', token: two },
      ],
    })
  })
})
