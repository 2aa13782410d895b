import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../platform/clock.ts'
import { newId } from '../../platform/ids.ts'
import { publicHalf } from '../../router/engine/transport/seal.ts'
import { setupLinkFile } from '../../router/start/process/setup-link.ts'
import { demoWorld } from '../../subgraphs/identity/setup/demo.ts'
import { provision } from '../../subgraphs/identity/setup/provision.ts'
import { signIn } from '../kit/client.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'
import { identityOf } from '../kit/identity.ts'
import { type DataFolder, freePort, launch, launchPlatform, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'
import { complaintOf } from './complaint.ts'

const secrets = { SMTP_URL: 'smtp://127.0.0.1:9', AUTH_SECRET: 's'.repeat(32), ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}` }

async function remove(folder: DataFolder, words: readonly string[], environment: Record<string, string> = {}) {
  const command = launch(process.execPath, ['scripts/demo-remove.ts', ...words], { DATA_DIR: folder.path, ...environment })
  return { status: await command.ended, said: command.said(), complained: command.complained() }
}

/** What payments has to be told in staging. */
const paymentsAt = (origin: string) => ({ PAYMENTS_AUTH_URL: origin, PAYMENTS_GATEWAY_URL: origin, PAYMENTS_APP_URL: origin })

const countIn =
  ({ sequelize }: TestDatabase) =>
  async (table: string, where = 'true') =>
    ((await sequelize.query(`select count(*)::int as n from ${table} where ${where}`))[0] as { n: number }[])[0]!.n

test('production and staging refuse a database with demo accounts in one line, and the named command removes only those and their data', async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase()
  const count = countIn(database)
  // A platform in development has made the demo; later a real person joined one of its organizations and made one of their own.
  const platform = launchPlatform({ ...(await platformEnvironment(folder)), DATABASE_URL: database.url })
  const [, url = ''] = await platform.printed(readyLine)
  const owner = await signIn(url)
  await owner.query('mutation { createOrganization(input: { name: "Of the owner", slug: "of-the-owner" }) { id } }')
  platform.child.kill('SIGTERM')
  await platform.ended
  const real = { email: 'ada@example.test', name: 'Ada' }
  const { organizations, users } = await provision(identityOf(database.sequelize, systemClock), {
    password: 'a long enough one',
    people: [real, ...demoWorld.people],
    organizations: [
      {
        slug: 'real',
        name: 'Real',
        members: [
          { email: real.email, roles: ['owner'] },
          { email: 'peer@demo.test', roles: ['member'] },
        ],
      },
      { slug: 'other', name: 'Other', members: [{ email: real.email, roles: ['member'] }] },
    ],
    // Not part of the demo: it stays. The demo's service account has no address to find it by.
    serviceAccounts: [{ organization: 'real', name: 'Real Agent', roles: ['member'] }],
    keys: [],
  })
  const [now, brandId] = [systemClock.now(), newId()]
  await database.sequelize.query(
    `insert into publishing.brands (id, organization_id, name, created_at, updated_at, created_by) values ($1, $2, 'Real', $3, $3, $4)`,
    { bind: [brandId, organizations.real, now, `user:${users[real.email]}`] },
  )
  expect(await count('publishing.posts')).toBeGreaterThan(3)

  for (const environment of [
    { ENVIRONMENT: 'production', ...secrets },
    { ENVIRONMENT: 'staging', ...secrets, ...paymentsAt('https://staging.example') },
  ]) {
    const line = JSON.parse(await complaintOf(folder, { ...environment, DATABASE_URL: database.url })) as { msg: string }
    expect(line.msg).toMatch(
      /^the database holds demo accounts, whose password everybody knows \(admin@demo\.test, .*\), and ENVIRONMENT is \w+: .* npm run demo:remove/,
    )
  }
  const key = { id: 'k', key: Buffer.alloc(32, 1) }
  const apart = launch(process.execPath, ['router/main.ts', 'subgraph', 'identity', '--port', String(await freePort())], {
    ...secrets,
    ENVIRONMENT: 'staging',
    DATABASE_URL: database.url,
    SEAL_PUBLIC_KEYS: `k:${publicHalf(key).key.toString('base64')}`,
  })
  expect(await apart.ended).toBe(1)
  expect(apart.complained()).toContain('npm run demo:remove')

  const asked = await remove(folder, [], { DATABASE_URL: database.url })
  expect([asked.status, asked.complained]).toEqual([1, expect.stringMatching(/^Remove the accounts admin@demo\.test.*\(admin, demo, of-the-owner\).*--yes\n$/)])
  expect([await count('identity.users'), await count('identity.users', `kind = 'service_account'`)]).toEqual([9, 2])

  const ofNobody = 'tenant_id not in (select id from identity.organizations)'
  expect(await count('identity.audit_entries')).toBeGreaterThan(0)
  const removed = await remove(folder, ['--yes'], { DATABASE_URL: database.url, ENVIRONMENT: 'production' })
  expect(removed).toEqual({
    status: 0,
    said: 'removed 6 demo accounts and the organizations admin, demo, of-the-owner\nthese stay, because they have other members: other, real\n',
    complained: '',
  })
  expect(existsSync(join(folder.path, 'demo.json'))).toBe(false)
  expect([await count('identity.users'), await count('identity.organizations'), await count('identity.memberships')]).toEqual([2, 2, 3])
  for (const table of ['identity.api_keys', 'identity.sessions', 'identity.accounts', 'publishing.posts', 'publishing.connections', 'publishing_jobs.job'])
    expect(await count(table, table === 'identity.accounts' ? `user_id <> '${users[real.email]}'` : 'true'), table).toBe(0)
  expect(await count('publishing.brands')).toBe(1)
  for (const table of ['identity.audit_entries', 'identity.idempotency_keys']) expect(await count(table, ofNobody), table).toBe(0)
  expect((await remove(folder, ['--yes'], { DATABASE_URL: database.url })).said).toBe('the database holds no demo accounts\n')

  const production = launchPlatform({ ...(await platformEnvironment(folder)), ...secrets, ENVIRONMENT: 'production', DATABASE_URL: database.url })
  await production.printed(/ready in/)
})

test('the demo of an embedded database is removed too, but not under a running platform', async () => {
  await using folder = newDataFolder()
  expect((await remove(folder, ['--yes'])).complained).toBe(
    `${folder.path} holds no database: DATA_DIR names the folder, or DATABASE_URL a database of your own\n`,
  )
  const environment = await platformEnvironment(folder)
  const platform = launchPlatform(environment)
  const [, url = ''] = await platform.printed(readyLine)
  await signIn(url)
  expect(await remove(folder, ['--yes'])).toMatchObject({ status: 1, complained: expect.stringMatching(/is in use by process \d+.*\n$/) })
  platform.child.kill('SIGTERM')
  await platform.ended
  expect(await remove(folder, ['--yes'])).toMatchObject({ status: 0, said: 'removed 6 demo accounts and the organizations admin, demo, other\n' })
  expect([folder.node(), folder.postgres()]).toEqual([null, null])
  const again = launchPlatform({ ...environment, DEMO: '0' })
  await again.printed(readyLine)
  expect(readFileSync(setupLinkFile(folder.path), 'utf8')).toMatch(/\/identity\/setup\?code=/)
  expect(again.said()).not.toContain('demo accounts, whose password')
})
