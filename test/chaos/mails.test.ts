import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../kit/database.ts'
import { launchPlatform, newDataFolder, platformEnvironment, readyLine, until } from '../kit/launch.ts'

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
