import { expect, test } from 'vitest'
import { signIn } from '../kit/client.ts'
import { type DataFolder, gone, type Launched, launch, leftovers, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'

const npmStart = (environment: Record<string, string>) => launch('npm', ['start'], environment)

/** Both processes that a start makes; taken while they run. */
function processesOf(folder: DataFolder) {
  const [node, postgres] = [folder.node(), folder.postgres()]
  if (!node || !postgres) throw new Error('the platform does not run')
  return { node, postgres }
}

/** Ends the platform and tells how long it took until neither Node nor PostgreSQL was there, in ms. */
async function endBy(folder: DataFolder, npm: Launched, act: () => void): Promise<number> {
  const { node, postgres } = processesOf(folder)
  const began = performance.now()
  act()
  await Promise.all([gone(node), gone(postgres), npm.ended])
  return performance.now() - began
}

test('S-08 `npm start` says where, as whom and that it is ready; Ctrl-C, TERM and kill -9 of npm leave nothing behind; the data stays', async () => {
  await using folder = newDataFolder()
  const environment = await platformEnvironment(folder)
  const url = `http://localhost:${environment.PORT}`

  const first = npmStart(environment)
  await first.told(readyLine)
  expect(first.said()).toContain(`${url}/graphql`)
  expect(first.said()).toMatch(/Database +embedded PostgreSQL in \S+, made now/)
  expect(first.said()).toContain('password supergraph-demo')
  for (const account of ['owner@demo.test', 'admin@demo.test', 'member@demo.test', 'peer@demo.test', 'outsider@other.test', 'super@admin.test'])
    expect(first.said()).toContain(account)
  expect(first.complained()).toBe('')
  expect((await fetch(`${url}/health/ready`)).status).toBe(200)
  const owner = await signIn(url)
  const { brands } = (
    await owner.query<{ viewer: { organization: { brands: { nodes: { id: string }[] } } } }>('{ viewer { organization { brands { nodes { id } } } } }')
  ).viewer.organization
  const { createPost } = await owner.query<{ createPost: { id: string } }>('mutation($input: CreatePostInput!) { createPost(input: $input) { id } }', {
    input: { brandId: brands.nodes[0]!.id, platform: 'X', copy: 'kept' },
  })
  // Ctrl-C reaches npm, its shell and Node at once.
  expect(await endBy(folder, first, () => process.kill(-first.child.pid!, 'SIGINT'))).toBeLessThan(1_500)
  expect(leftovers(folder)).toEqual([])

  const second = npmStart(environment)
  await second.told(readyLine)
  expect(second.said()).toMatch(/Database .*, as it was left/)
  const again = await signIn(url)
  const { post } = await again.query<{ post: { copy: string } }>('query($id: ID!) { post(id: $id) { copy } }', { id: createPost.id })
  expect(post.copy).toBe('kept')
  expect(await endBy(folder, second, () => second.child.kill('SIGTERM'))).toBeLessThan(1_500)
  expect(leftovers(folder)).toEqual([])

  const third = npmStart(environment)
  await third.told(readyLine)
  expect(await endBy(folder, third, () => third.child.kill('SIGKILL'))).toBeLessThan(2_500)
  expect(leftovers(folder)).toEqual([])
})

test('an idle platform is gone within a second, sockets and kept-alive connections included', async () => {
  await using folder = newDataFolder()
  const environment = await platformEnvironment(folder)
  const platform = launch(process.execPath, ['router/main.ts'], environment)
  const [, url = ''] = await platform.told(readyLine)
  await (await fetch(`${url}/health/live`)).text()
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })
  socket.send('{"type":"connection_init"}')
  const closed = new Promise<number>(resolve => {
    socket.onclose = ({ code }) => resolve(code)
  })
  expect(await endBy(folder, platform, () => platform.child.kill('SIGTERM'))).toBeLessThan(1_000)
  expect(await platform.ended).toBe(0)
  expect(await closed).toBe(1001)
})

test('a start that is told to end before it is ready stops what it had started', async () => {
  for (const sign of ['PostgreSQL is ready', 'migration applied']) {
    await using folder = newDataFolder()
    const platform = launch(process.execPath, ['router/main.ts'], { ...(await platformEnvironment(folder)), LOG_LEVEL: 'info' })
    await platform.told(new RegExp(sign))
    platform.child.kill('SIGTERM')
    expect(await platform.ended).toBe(0)
    expect(platform.said()).not.toMatch(readyLine)
    expect([folder.node(), folder.postgres(), leftovers(folder)]).toEqual([null, null, []])
  }
})
