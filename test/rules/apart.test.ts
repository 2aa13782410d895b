import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { portFor } from '../../router/start/apart/ports.ts'
import { readReplicas } from '../../router/start/apart/replicas.ts'
import { openSharedSecrets } from '../../router/start/apart/secrets.ts'
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

test('a process gets the port that is wanted, and another one when somebody has that or it is none', async () => {
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

  test('are of each subgraph its own token alone, and what signs for viewers is known to routers only', async () => {
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
    expect(Object.keys(router).sort()).toEqual(['APP_SERVICE_TOKENS', 'SEAL_PRIVATE_KEY'])
  })

  test('are made once, readable by their owner alone, and are what is configured where that is', async () => {
    await using folder = newDataFolder()
    const [first, second] = [open(folder.path), open(folder.path)]
    expect([second.router, second.natsToken, second.subgraph('agents')]).toEqual([first.router, first.natsToken, first.subgraph('agents')])
    expect(statSync(join(folder.path, 'apart-keys.json')).mode & 0o777).toBe(0o600)
    const configured = open(folder.path, { AUTH_SECRET: 'x'.repeat(32) })
    expect([configured.subgraph('agents').AUTH_SECRET, configured.router]).toEqual(['x'.repeat(32), first.router])
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
