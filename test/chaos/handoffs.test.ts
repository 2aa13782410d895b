import { expect, test } from 'vitest'
import { demoPassword } from '../../subgraphs/identity/setup/demo.ts'
import { createTestDatabase } from '../kit/database.ts'
import { launchPlatform, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'

/** Each point with whether the code is good afterwards: it is as long as nothing has come of it. */
test.each([
  ['handoff-code-used', true],
  ['handoff-entered', true],
  ['after-handoff', false],
] as const)('kill -9 of the platform at %s leaves a person who can go on, with a single session', { timeout: 120_000 }, async (point, isGood) => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase({ empty: true })
  const environment = { ...(await platformEnvironment(folder)), DATABASE_URL: database.url }
  const sessions = async () => (await database.sequelize.query(`select id from identity.sessions where kind = 'handoff'`))[0].length
  const post = (url: string, path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${url}/identity/api/auth/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const signIn = async (url: string) => {
    const answer = await post(url, 'sign-in/email', { email: 'owner@demo.test', password: demoPassword })
    return { authorization: `Bearer ${((await answer.json()) as { accessToken: string }).accessToken}` }
  }
  const mint = async (url: string, headers: Record<string, string>) =>
    (await (await post(url, 'handoff', { service: 'publishing' }, headers)).json()) as { code: string; service: { id: string } }
  const exchange = (url: string, { code, service }: Awaited<ReturnType<typeof mint>>) => post(url, 'sso/exchange', { code, serviceId: service.id })

  const doomed = launchPlatform({ ...environment, CRASH_AT: point })
  const [, before = ''] = await doomed.printed(readyLine)
  const person = await signIn(before)
  const handoff = await mint(before, person)
  await expect(exchange(before, handoff)).rejects.toThrow()
  expect(await doomed.ended).toBe('SIGKILL')
  expect(await sessions()).toBe(isGood ? 0 : 1)

  const platform = launchPlatform(environment)
  const [, url = ''] = await platform.printed(readyLine)
  // On a slow machine a start takes longer than a code is valid.
  await database.sequelize.query(`update identity.codes set expires_at = now() + interval '1 minute' where purpose = 'handoff'`)
  const again = await exchange(url, handoff)
  expect(again.status).toBe(isGood ? 200 : 400)
  if (!isGood) expect(await again.json()).toMatchObject({ code: 'BAD_USER_INPUT', reason: 'CODE' })
  expect(await sessions()).toBe(1)
  // The session that it came from stands, so whoever was led nowhere opens the service once more.
  expect((await exchange(url, await mint(url, person))).status).toBe(200)
  platform.child.kill('SIGTERM')
  expect(await platform.ended).toBe(0)
})
