import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../kit/database.ts'
import { freePort, launch, newDataFolder } from '../kit/launch.ts'
import { composed, project } from './files.ts'

const words = readFileSync(join(project, 'deploy', 'Dockerfile.dockerignore'), 'utf8').split('\n')
const taken = words.filter(word => word.startsWith('!')).map(word => word.slice(1))

test('the image’s files suffice for a router and a subgraph, with the settings of compose.yaml', async () => {
  await using image = newDataFolder()
  await using database = await createTestDatabase({ empty: true })
  for (const name of taken) {
    expect(existsSync(join(project, name)), name).toBe(true)
    cpSync(join(project, name), join(image.path, name), { recursive: true })
  }
  symlinkSync(join(project, 'node_modules'), join(image.path, 'node_modules'))

  const keys = launch(process.execPath, ['scripts/seal-keys.ts'])
  await keys.ended
  const { SEAL_PRIVATE_KEY = '', SEAL_PUBLIC_KEYS = '' } = Object.fromEntries(
    keys
      .said()
      .trim()
      .split('\n')
      .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  ) as Record<string, string>
  const [identityPort, routerPort] = [await freePort(), await freePort()]
  const start = (name: string, more: Record<string, string>) => {
    const { words: parameters, environment } = composed().find(each => each.name === name)!
    const settings = { ...environment, PUBLIC_URL: 'http://localhost:4000', IDENTITY_URL: `http://localhost:${identityPort}/graphql`, ...more }
    return launch(process.execPath, parameters, settings, { cwd: image.path })
  }
  const identity = start('identity', {
    PORT: String(identityPort),
    DATABASE_URL: database.url,
    SMTP_URL: 'smtp://127.0.0.1:9',
    AUTH_SECRET: 's'.repeat(32),
    ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
    SEAL_PUBLIC_KEYS,
    NATS_URL: '',
  })
  await identity.printed(/ready in/)
  const router = start('router', { PORT: String(routerPort), SEAL_PRIVATE_KEY })
  await router.printed(/ready in/)

  const health = (port: number) => launch(process.execPath, ['scripts/health.ts'], { PORT: String(port) }, { cwd: image.path }).ended
  expect([await health(routerPort), await health(identityPort), await health(await freePort())]).toEqual([0, 0, 1])
  const answer = await fetch(`http://localhost:${routerPort}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{ viewer { kind } }"}',
  })
  expect(((await answer.json()) as { data: unknown }).data).toEqual({ viewer: expect.anything() })
  for (const each of [router, identity]) {
    each.child.kill('SIGTERM')
    expect(await each.ended).toBe(0)
  }
})

test('the pages’ build stage has the files that it needs, and the image gets the result', async () => {
  await using stage = newDataFolder()
  const [, commands = ''] = /AS pages\n([\s\S]*?)\n\n/.exec(readFileSync(join(project, 'deploy', 'Dockerfile'), 'utf8')) ?? []
  const copied = [...commands.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, names]) => names!.split(' '))
  expect(copied.filter(name => !taken.includes(name))).toEqual([])
  for (const name of copied) cpSync(join(project, name), join(stage.path, name), { recursive: true, filter: path => !path.includes('web/dist') })
  symlinkSync(join(project, 'node_modules'), join(stage.path, 'node_modules'))
  const build = launch(process.execPath, ['scripts/build-web.cjs'], {}, { cwd: stage.path })
  expect(await build.ended, build.complained()).toBe(0)
  expect(existsSync(join(stage.path, 'web/dist/built.json'))).toBe(true)
  expect(readFileSync(join(project, 'deploy', 'Dockerfile'), 'utf8')).toContain('\nCOPY --from=pages /app/web/dist web/dist\n')
})
