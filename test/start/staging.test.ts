import { expect, test } from 'vitest'
import { publicHalf } from '../../router/engine/transport/seal.ts'
import { createTestDatabase } from '../kit/database.ts'
import { freePort, launch, launchPlatform, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'
import { complaintOf } from './complaint.ts'

const staging = {
  ENVIRONMENT: 'staging',
  SMTP_URL: 'smtp://127.0.0.1:9',
  AUTH_SECRET: 's'.repeat(32),
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
}
const addresses = {
  PAYMENTS_AUTH_URL: 'https://auth.staging.example',
  PAYMENTS_GATEWAY_URL: 'https://gateway.staging.example',
  PAYMENTS_APP_URL: 'https://pay.staging.example',
}
const messages = (complaint: string) =>
  complaint
    .trim()
    .split('\n')
    .map(line => (JSON.parse(line) as { msg: string }).msg)
const missing = Object.keys(addresses).map(name => expect.stringMatching(`^${name}: missing, `))

test('staging does not start without the addresses of payments: in one process, in distributed mode, or as the process of payments', async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase()
  const environment = { ...staging, DATABASE_URL: database.url }
  expect(messages(await complaintOf(folder, environment))).toEqual(missing)
  const { PAYMENTS_GATEWAY_URL, ...others } = addresses
  expect(messages(await complaintOf(folder, { ...environment, ...others }))).toEqual([missing[1]])

  const ended = async (words: readonly string[], more: Record<string, string> = {}) => {
    const process = launch(globalThis.process.execPath, ['router/main.ts', ...words], { ...(await platformEnvironment(folder)), ...environment, ...more })
    expect(await process.ended).toBe(1)
    return messages(process.complained())
  }
  expect(await ended(['apart'])).toEqual(missing)
  const seal = { SEAL_PUBLIC_KEYS: `k:${publicHalf({ id: 'k', key: Buffer.alloc(32, 1) }).key.toString('base64')}` }
  expect(await ended(['subgraph', 'payments'], seal)).toEqual(missing)
  // Processes without payments need none of its settings.
  const publishing = launch(process.execPath, ['router/main.ts', 'subgraph', 'publishing', '--port', String(await freePort())], { ...environment, ...seal })
  await publishing.printed(/ready in/)
  publishing.child.kill()
  await publishing.ended
})

test('outside development nothing starts without a mail server: in one process, in distributed mode, or as the process of identity', async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase()
  const { SMTP_URL, ...others } = staging
  const environment = { ...others, ...addresses, DATABASE_URL: database.url }
  const sentence = /^SMTP_URL: missing, and in staging people are invited and set new passwords by mail: name a mail server/
  expect(messages(await complaintOf(folder, environment))).toEqual([expect.stringMatching(sentence)])
  const ended = async (words: readonly string[], more: Record<string, string> = {}) => {
    const process = launch(globalThis.process.execPath, ['router/main.ts', ...words], { ...(await platformEnvironment(folder)), ...environment, ...more })
    expect(await process.ended).toBe(1)
    return messages(process.complained())
  }
  expect(await ended(['apart'])).toEqual([expect.stringMatching(sentence)])
  const seal = { SEAL_PUBLIC_KEYS: `k:${publicHalf({ id: 'k', key: Buffer.alloc(32, 1) }).key.toString('base64')}` }
  expect(await ended(['subgraph', 'identity'], seal)).toEqual([expect.stringMatching(sentence)])
  expect(messages(await complaintOf(folder, { ...environment, SMTP_URL: 'mail.example.com' }))).toEqual([
    expect.stringMatching(/^SMTP_URL: must be an address/),
  ])
})

test('staging with the addresses of payments announces them', async () => {
  await using folder = newDataFolder()
  await using database = await createTestDatabase()
  const platform = launchPlatform({ ...(await platformEnvironment(folder)), ...staging, ...addresses, DATABASE_URL: database.url })
  const [, url = ''] = await platform.printed(readyLine)
  const answer = await fetch(`${url}/payments/api/service-identity`)
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    {
      environment: 'staging',
      addresses: { auth: addresses.PAYMENTS_AUTH_URL, gateway: addresses.PAYMENTS_GATEWAY_URL, app: addresses.PAYMENTS_APP_URL },
    },
  ])
})
