import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { createPresses } from '../../router/start/process/presses.ts'
import { signIn } from '../kit/client.ts'
import { createTestDatabase } from '../kit/database.ts'
import { type DataFolder, gone, type Launched, launch, launchPlatform, leftovers, newDataFolder, platformEnvironment, readyLine, until } from '../kit/launch.ts'

const npmStart = (environment: Record<string, string>) => launch('npm', ['start'], environment)

/** Both processes that a start makes; taken while they run. */
function processesOf(folder: DataFolder) {
  const [node, postgres] = [folder.node(), folder.postgres()]
  if (!node || !postgres) throw new Error('the platform does not run')
  return { node, postgres }
}

/** Ends the platform and waits until neither Node nor PostgreSQL is there, and their traces are removed. */
async function endBy(folder: DataFolder, npm: Launched, act: () => void): Promise<void> {
  const { node, postgres } = processesOf(folder)
  act()
  await Promise.all([gone(node), gone(postgres), npm.ended])
  expect(leftovers(folder)).toEqual([])
}

test('S-08 `npm start` prints addresses, accounts and readiness; Ctrl-C, TERM and kill -9 of npm leave nothing behind; the data stays', async () => {
  await using folder = newDataFolder()
  const environment = await platformEnvironment(folder)
  const url = `http://localhost:${environment.PORT}`

  const first = npmStart(environment)
  await first.printed(readyLine)
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
  // Ctrl-C reaches npm, its shell and Node at once, and Node again from npm.
  await endBy(folder, first, () => process.kill(-first.child.pid!, 'SIGINT'))
  expect(first.said()).toMatch(/^stopping \(Ctrl-C\): .*\n(?:\{.*\n)*stopped$/m)
  expect(first.said()).not.toContain('again')

  const second = npmStart(environment)
  await second.printed(readyLine)
  expect(second.said()).toMatch(/Database .*, as it was left/)
  const again = await signIn(url)
  const { post } = await again.query<{ post: { copy: string } }>('query($id: ID!) { post(id: $id) { copy } }', { id: createPost.id })
  expect(post.copy).toBe('kept')
  await endBy(folder, second, () => second.child.kill('SIGTERM'))

  const third = npmStart(environment)
  await third.printed(readyLine)
  await endBy(folder, third, () => third.child.kill('SIGKILL'))
})

test('open sockets and kept-alive connections do not delay the end, and sockets are closed with 1001', async () => {
  await using folder = newDataFolder()
  const environment = await platformEnvironment(folder)
  const platform = launch(process.execPath, ['router/main.ts'], environment)
  const [, url = ''] = await platform.printed(readyLine)
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
  await endBy(folder, platform, () => platform.child.kill('SIGTERM'))
  // 0 and "stopped": in order, not cut off when its time was over.
  expect(await platform.ended).toBe(0)
  // Between both lines may stand what the demo logs, such as a slow operation.
  expect(platform.said()).toMatch(/^stopping \(SIGTERM\): .*\n(?:\{.*\n)*stopped$/m)
  expect(await closed).toBe(1001)
})

test('closing the terminal stops the platform in order, although nobody can read its lines any more', async () => {
  await using folder = newDataFolder()
  const platform = launchPlatform(await platformEnvironment(folder))
  await platform.printed(readyLine)
  await endBy(folder, platform, () => {
    platform.child.stdout!.destroy()
    platform.child.stderr!.destroy()
    platform.child.kill('SIGHUP')
  })
  expect(await platform.ended).toBe(0)
})

test('a platform continues when nobody reads its output', async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase()
  const environment = { ...(await platformEnvironment(folder)), DATABASE_URL: database.url }
  const platform = launchPlatform(environment)
  platform.child.stdout!.destroy()
  const ready = () =>
    fetch(`http://localhost:${environment.PORT}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('it is ready', ready)
  platform.child.kill('SIGTERM')
  expect(await platform.ended).toBe(0)
  expect(platform.complained()).toBe('')
})

test('a second Ctrl-C does not wait for requests that do not end, and reports it; nothing is left running', async () => {
  await using folder = newDataFolder()
  const environment = await platformEnvironment(folder)
  const platform = launchPlatform(environment)
  await platform.printed(readyLine)
  const { postgres } = processesOf(folder)
  // A request whose body never arrives.
  const half = connect(Number(environment.PORT), '127.0.0.1')
  half.on('error', () => {})
  half.write('POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{')
  await until('the request has arrived', async () => (await fetch(`http://localhost:${environment.PORT}/health/live`)).ok && half.bytesWritten > 0)
  platform.child.kill('SIGINT')
  await platform.printed(/^stopping \(Ctrl-C\)/m)
  let over = false
  platform.ended.finally(() => {
    over = true
  })
  await until('the platform is gone', () => over || (platform.child.kill('SIGINT') && false))
  expect(await platform.ended).toBe(130)
  expect(platform.said()).toMatch(/^Ctrl-C again: cut off; the next start recovers$/m)
  expect(platform.said()).not.toMatch(/^stopped$/m)
  await gone(postgres)
  half.destroy()
})

test('continues models’ streams for STREAM_DRAIN_MS after TERM, then sends each the error event, and stops in order', async () => {
  await using folder = newDataFolder()
  const environment = { ...(await platformEnvironment(folder)), STREAM_DRAIN_MS: '4000' }
  const url = `http://localhost:${environment.PORT}`
  const platform = launchPlatform(environment)
  await platform.printed(readyLine)
  const [, sandbox] = /Sandbox \(plays others\) +(http:\S+)/.exec(platform.said())!
  const { token } = await signIn(url)
  const json = { 'content-type': 'application/json' }
  await fetch(`${sandbox}/_control/faults`, { method: 'POST', headers: json, body: JSON.stringify({ network: 'openai', fault: 'endless', times: 1 }) })
  const answer = await fetch(`${url}/providers/api/ai/chat/completions`, {
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${token}` },
    body: JSON.stringify({ stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  })
  const began = performance.now()
  platform.child.kill('SIGTERM')
  const text = await answer.text()
  // Longer than the limit of other requests.
  expect(performance.now() - began).toBeGreaterThan(3_500)
  const last = text.split('\n\n').findLast(event => event !== '')!
  expect([JSON.parse(last.slice('data: '.length)), text.includes('[DONE]')]).toEqual([
    { error: expect.objectContaining({ type: 'upstream_error', code: 'stopping' }) },
    false,
  ])
  expect(await platform.ended).toBe(0)
  expect(platform.said()).toMatch(/^stopping \(SIGTERM\): what runs may end, within 9 s.*\n(?:\{.*\n)*stopped$/m)
})

test('one Ctrl-C that arrives several times, from terminal and npm, counts once', () => {
  let now = 5_000
  const pressed = createPresses(() => now)
  const after = (milliseconds: number) => {
    now += milliseconds
    return pressed()
  }
  expect([after(0), after(3), after(200)]).toEqual([false, false, false])
  expect(after(500)).toBe(true)
})

test('a start that receives TERM before it is ready stops what it had started', async () => {
  for (const sign of ['PostgreSQL is ready', 'migration applied']) {
    await using folder = newDataFolder()
    const platform = launch(process.execPath, ['router/main.ts'], { ...(await platformEnvironment(folder)), LOG_LEVEL: 'info' })
    await platform.printed(new RegExp(sign))
    platform.child.kill('SIGTERM')
    expect(await platform.ended).toBe(0)
    expect(platform.said()).not.toMatch(readyLine)
    expect([folder.node(), folder.postgres(), leftovers(folder)]).toEqual([null, null, []])
  }
})

test('in production every line is JSON, from the first to the last', async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase()
  // The model catalogue is unreachable, which is logged at some time.
  const keys = {
    SMTP_URL: 'smtp://127.0.0.1:9',
    AUTH_SECRET: 's'.repeat(32),
    ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  }
  const environment = { ...(await platformEnvironment(folder)), ...keys, ENVIRONMENT: 'production', DATABASE_URL: database.url }
  const lines = (text: string) =>
    text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { level: number; time: number; msg: string; url?: string })
  const platform = launchPlatform(environment)
  const [, url] = await platform.printed(readyLine)
  expect(url).toBe(`http://localhost:${environment.PORT}`)
  expect(lines(platform.said()).at(-1)).toMatchObject({ level: 30, time: expect.any(Number), url, demo: false, database: 'PostgreSQL 18 at DATABASE_URL' })
  expect(lines(platform.said()).map(({ msg }) => msg)).toContainEqual(expect.stringMatching(/^nobody has signed in yet: .*\/setup-link, good for a day$/))
  expect(platform.said()).not.toMatch(/code=/)
  platform.child.kill('SIGTERM')
  expect(await platform.ended).toBe(0)
  expect(
    lines(platform.said())
      .map(({ msg }) => msg)
      // On a busy machine these may come in between.
      .filter(msg => msg !== 'model source failed' && msg !== 'slow operation')
      .slice(-2),
  ).toEqual([expect.stringMatching(/^stopping \(SIGTERM\)/), 'stopped'])
  expect(platform.complained()).toBe('')

  const refused = launchPlatform({ ...environment, AUTH_SECRET: '', PORT: 'four' })
  expect(await refused.ended).toBe(1)
  expect(refused.said()).toBe('')
  expect(lines(refused.complained())).toEqual([{ level: 60, time: expect.any(Number), msg: 'PORT: must be a port number from 0 to 65535' }])
})
