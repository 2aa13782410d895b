import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from 'graphql-ws'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { listedSlugs } from '../../router/start/registry.ts'
import { startMachine } from '../kit/apart.ts'
import { signIn } from '../kit/client.ts'
import { freePort, launch, newDataFolder, readyLine, until } from '../kit/launch.ts'

test('the platform’s router as two processes: one sign-in is valid at both, changes reach subscribers of either, and both forget a signed-out session', async () => {
  await using folder = newDataFolder()
  await using machine = await startMachine(folder, '', { EVENT_CARRIER: 'notify' })
  const { sealKey } = JSON.parse(readFileSync(join(folder.path, 'apart-keys.json'), 'utf8')) as { sealKey: string }
  const addresses = listedSlugs.map(slug => [`${slug.toUpperCase()}_URL`, new RegExp(`Subgraph ${slug} +(\\S+)`).exec(machine.keeper.said())![1]!])
  const port = await freePort()
  const router = launch(process.execPath, ['router/main.ts', 'router', '--workers', '2', '--port', String(port)], {
    ...Object.fromEntries(addresses),
    SEAL_PRIVATE_KEY: `generated:${sealKey}`,
    PUBLIC_URL: machine.url,
    npm_lifecycle_event: 'start:router',
  })
  try {
    await router.printed(readyLine)
    const url = `http://localhost:${port}`
    await until('it is ready', async () => (await fetch(`${url}/health/ready`)).status === 200)
    const owner = await signIn(url)
    const { viewer } = await owner.query<{ viewer: { organization: { brands: { nodes: { id: string }[] } } } }>(
      '{ viewer { organization { brands { nodes { id } } } } }',
    )
    const [{ id: brandId }] = viewer.organization.brands.nodes as [{ id: string }]
    const heard: string[][] = []
    const clients = Array.from({ length: 4 }, () => {
      const told: string[] = []
      heard.push(told)
      const client = createClient({
        url: `${url.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { authorization: `Bearer ${owner.token}` },
      })
      client.subscribe<{ postStatusChanged: { copy: string } }>(
        { query: 'subscription Followed($brandId: ID!) { postStatusChanged(brandId: $brandId) { copy } }', variables: { brandId } },
        { next: ({ data }) => told.push(data!.postStatusChanged.copy), error: () => {}, complete: () => {} },
      )
      return client
    })
    const figures = async () => (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).text()
    await until('all of them follow', async () => /supergraph_subscriptions\{operation="Followed"\} 4$/m.test(await figures()))
    // Two streams at each worker: equal streams of one worker are shared.
    expect(await figures()).toMatch(/^supergraph_subscription_upstreams 2$/m)
    for (const copy of ['first', 'second', 'third'])
      await owner.query('mutation($input: CreatePostInput!) { createPost(input: $input) { id } }', { input: { brandId, platform: 'X', copy } })
    await until('everybody was told of everything', () => heard.every(told => ['first', 'second', 'third'].every(copy => told.includes(copy))))

    // REST at either worker, each on its own connection.
    const posts = () => fetch(`${url}/publishing/api/posts`, { headers: { authorization: `Bearer ${owner.token}`, connection: 'close' } })
    expect(await Promise.all(Array.from({ length: 4 }, async () => (await posts()).status))).toEqual([200, 200, 200, 200])
    await Promise.all(clients.map(client => client.dispose()))
    const out = await fetch(`${url}/identity/api/auth/sign-out`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(out.status).toBe(200)
    await until('both have heard of it', async () => (await Promise.all([posts(), posts(), posts(), posts()])).every(({ status }) => status === 401))
  } finally {
    router.child.kill('SIGTERM')
    expect(await router.ended).toBe(0)
  }
}, 120_000)
