import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { startPostgres } from '../../db/embedded.ts'
import { fingerprint } from '../db/fingerprint.ts'
import { type Client, signIn } from '../kit/client.ts'
import { type DataFolder, launch, launchPlatform, newDataFolder, platformEnvironment, readyLine, until } from '../kit/launch.ts'

const command = async (name: 'backup' | 'restore', folder: DataFolder, file: string, ...more: readonly string[]) => {
  const run = launch('npm', ['run', '--silent', name, '--', file, ...more], { DATA_DIR: folder.path })
  return { status: await run.ended, said: run.said(), complained: run.complained() }
}

async function start(folder: DataFolder) {
  const platform = launchPlatform(await platformEnvironment(folder))
  const [, url = ''] = await platform.printed(readyLine)
  // Checks liveness as a supervisor does; the readiness check would write.
  expect((await fetch(`${url}/health/ready`)).status).toBe(200)
  return {
    url,
    async stop() {
      platform.child.kill('SIGTERM')
      expect(await platform.ended).toBe(0)
    },
  }
}

/** The tables of a platform that does not run. */
async function tablesIn(folder: DataFolder): Promise<Record<string, string>> {
  const postgres = await startPostgres({ folder: folder.path, log: pino({ level: 'silent' }) })
  try {
    return await fingerprint(postgres.url)
  } finally {
    await postgres.stop()
  }
}

const posts = (client: Client) => client.query('{ posts(first: 100) { totalCount nodes { id copy status scheduledAt brand { id name } } } }')

/** Sends a post through the connection of the demo brand, and waits for what became of it. */
async function publish(client: Client): Promise<string> {
  const { brands } = await client.query<{ brands: { nodes: { id: string; connections: { active: boolean }[] }[] } }>(
    '{ brands(first: 5) { nodes { id connections { active } } } }',
  )
  const brand = brands.nodes.find(({ connections }) => connections.some(({ active }) => active))!
  const input = { brandId: brand.id, platform: 'X', copy: `Hello again at ${Date.now()}`, scheduledAt: new Date(Date.now() + 1_000).toISOString() }
  const { createPost } = await client.query<{ createPost: { id: string } }>('mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }', {
    input,
  })
  return until(
    'the post went out or failed',
    async () => {
      const { post } = await client.query<{ post: { status: string } }>('query ($id: ID!) { post(id: $id) { status } }', { id: createPost.id })
      return post.status !== 'SCHEDULED' && post.status
    },
    40,
  )
}

test('S-08 a platform restored into an empty folder is the same: tables, people, posts, keys, connections', async () => {
  await using folder = newDataFolder()
  await using elsewhere = newDataFolder()
  const [running, stopped] = [join(folder.path, 'running.backup'), join(folder.path, 'stopped.backup')]
  const first = await start(folder)
  const client = await signIn(first.url)
  expect(await publish(client)).toBe('PUBLISHED')
  expect(await command('backup', folder, running)).toMatchObject({ status: 0, complained: '' })
  const before = await posts(client)
  await first.stop()

  const said = await command('backup', folder, stopped)
  expect(said).toMatchObject({ status: 0, complained: '' })
  expect(said.said).toMatch(/It holds the keys too/)
  expect(statSync(running).mode & 0o777).toBe(0o600)
  expect(existsSync(join(folder.path, 'lock'))).toBe(false)

  expect(await command('restore', elsewhere, stopped)).toMatchObject({ status: 0, complained: '' })
  const tables = await tablesIn(elsewhere)
  expect(tables).toEqual(await tablesIn(folder))
  expect(Object.keys(tables).length).toBeGreaterThan(20)
  expect((await command('restore', elsewhere, stopped)).complained).toMatch(/^the database is not empty /)

  const second = await start(elsewhere)
  const again = await signIn(second.url)
  expect(await posts(again)).toEqual(before)
  // Publishes with tokens encrypted by the generated key, at a sandbox that knows them.
  expect(await publish(again)).toBe('PUBLISHED')
  expect((await command('restore', elsewhere, running)).complained).toMatch(/ is in use by process /)
  await second.stop()
})

test('the backup of a platform that runs restores too', async () => {
  await using folder = newDataFolder()
  await using elsewhere = newDataFolder()
  const file = join(folder.path, 'running.backup')
  const first = await start(folder)
  const before = await posts(await signIn(first.url))
  expect(await command('backup', folder, file)).toMatchObject({ status: 0, complained: '' })
  await first.stop()
  expect(await command('restore', elsewhere, file)).toMatchObject({ status: 0, complained: '' })
  const second = await start(elsewhere)
  expect(await posts(await signIn(second.url))).toEqual(before)
  await second.stop()
})

test('a session that was signed out after the backup stays ended with --end-sessions, and people can sign in', async () => {
  await using folder = newDataFolder()
  await using elsewhere = newDataFolder()
  const file = join(folder.path, 'of.backup')
  const renewed = async (url: string, cookie: string) => (await fetch(`${url}/identity/api/auth/token`, { headers: { cookie } })).status
  const first = await start(folder)
  const answer = await fetch(`${first.url}/identity/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'owner@demo.test', password: 'supergraph-demo' }),
  })
  const cookie = answer.headers.getSetCookie()[0]!.split(';')[0]!
  expect(await renewed(first.url, cookie)).toBe(200)
  expect(await command('backup', folder, file)).toMatchObject({ status: 0, complained: '' })
  await fetch(`${first.url}/identity/api/auth/sign-out`, { method: 'POST', headers: { cookie, origin: first.url } })
  expect(await renewed(first.url, cookie)).toBe(401)
  await first.stop()
  expect(await command('restore', elsewhere, file, '--end-sessions')).toMatchObject({ status: 0, complained: '' })
  const second = await start(elsewhere)
  expect(await renewed(second.url, cookie)).toBe(401)
  expect((await posts(await signIn(second.url))) as object).toHaveProperty('posts')
  await second.stop()
})

test('reports an impossible backup or restore in one line', async () => {
  await using folder = newDataFolder()
  expect(await command('backup', folder, join(folder.path, 'x'))).toMatchObject({ status: 1, complained: expect.stringMatching(/ holds no database: .*\n$/) })
  expect(await command('restore', folder, join(folder.path, 'x'))).toMatchObject({
    status: 1,
    complained: expect.stringMatching(/ \(there is no such file\)\n$/),
  })
  expect(await command('backup', folder, '--help')).toMatchObject({ status: 1, complained: expect.stringMatching(/^npm run backup -- FILE/) })
})
