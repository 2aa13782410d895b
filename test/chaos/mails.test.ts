import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../kit/database.ts'
import { launchPlatform, newDataFolder, platformEnvironment, readyLine, until } from '../kit/launch.ts'
import { solve } from '../subgraphs/agents/chat/visitor.ts'

// Each point with how often the mail server has the mail by then, and in the end. A mail that the server accepted without a record of it
// is sent again.
test.each([
  ['after-mail-claim', 0, 1],
  ['after-mail-taken', 1, 2],
  ['after-mail-written', 1, 1],
] as const)('kill -9 of the platform %s loses no mail, and doubles none but what nobody can know', { timeout: 120_000 }, async (point, before, after) => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase({ empty: true })
  const environment = { ...(await platformEnvironment(folder)), DATABASE_URL: database.url }
  const ids = async () => {
    const { origin } = JSON.parse(readFileSync(join(folder.path, 'sandbox', 'demo.json'), 'utf8')) as { origin: string }
    const mails = (await (await fetch(`${origin}/_control/received?network=smtp&to=owner@demo.test`)).json()) as { headers: Record<string, string> }[]
    return mails.map(({ headers }) => headers['message-id'])
  }
  const doomed = launchPlatform({ ...environment, CRASH_AT: point })
  const [, url = ''] = await doomed.printed(readyLine)
  await fetch(`${url}/identity/api/auth/request-password-reset`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'owner@demo.test' }),
  }).catch(() => {})
  expect(await doomed.ended).toBe('SIGKILL')
  // Lets the claim of the dead attempt expire.
  await database.sequelize.query('update identity.mails set due_at = now() where due_at is not null')

  const platform = launchPlatform(environment)
  await platform.printed(readyLine)
  expect((await ids()).length).toBeGreaterThanOrEqual(before)
  await until('the mail is written down as sent', async () => {
    const [rows] = await database.sequelize.query('select outcome, code from identity.mails')
    return (rows as { outcome: string | null; code: string | null }[]).every(({ outcome, code }) => outcome === 'sent' && code === null)
  })
  expect([(await ids()).length, new Set(await ids()).size]).toEqual([after, 1])
  platform.child.kill('SIGTERM')
  expect(await platform.ended).toBe(0)
})

test('kill -9 of the platform after the gateway took a mail of the launcher loses none and doubles none', { timeout: 120_000 }, async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase({ empty: true })
  const environment = { ...(await platformEnvironment(folder)), DATABASE_URL: database.url }
  const count = async () => {
    const { origin } = JSON.parse(readFileSync(join(folder.path, 'sandbox', 'demo.json'), 'utf8')) as { origin: string }
    return ((await (await fetch(`${origin}/_control/received?network=smtp&to=leads@demo.test`)).json()) as unknown[]).length
  }
  const doomed = launchPlatform({ ...environment, CRASH_AT: 'launcher-mail-sent' })
  const [, url = ''] = await doomed.printed(readyLine)
  const solution = solve(await (await fetch(`${url}/launcher/api/challenge`)).json())
  const body = { kind: 'contact', name: 'Vera Visitor', email: 'vera@example.com', message: 'Please call me.', solution }
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  await fetch(`${url}/launcher/api/contact`, init).catch(() => {})
  expect(await doomed.ended).toBe('SIGKILL')
  // Lets the lease of the dead process expire.
  await database.sequelize.query('update launcher.mails set next_attempt_at = now() where next_attempt_at is not null')

  const platform = launchPlatform(environment)
  await platform.printed(readyLine)
  await until(
    'the mail is recorded as taken',
    async () => {
      const [rows] = await database.sequelize.query('select from launcher.mails where next_attempt_at is null and message_id is not null')
      return rows.length === 1
    },
    60,
  )
  await until('it has arrived', async () => (await count()) > 0, 60)
  expect(await count()).toBe(1)
  platform.child.kill('SIGTERM')
  expect(await platform.ended).toBe(0)
})
