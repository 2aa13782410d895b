import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signIn } from '../../test/kit/client.ts'
import { createTestDatabase } from '../../test/kit/database.ts'
import { said } from '../processes.ts'
import { startPlatform } from '../publishing/platform.ts'
import type { Started } from './started.ts'

/** The platform with all features on, and its client's credentials. */
export interface Whole extends Started {
  /** Beginnings of one call's statements. */
  readonly statements: readonly string[]
}

const path = '/providers/api/ai/chat/completions'
/** Numbers of warm-up calls: within a key's rate limit, together with the measured ones. */
const warming = { together: 50, atOnce: 20, alone: 1_500 } as const

/**
 * Starts the platform in production, on the run's database server: a key is checked, two hard limits reserve and
 * charge, the call is stored before its answer ends, and a line is logged.
 * @param origin of the model
 * @param body   of the warm-up calls
 */
export async function startWhole(stack: AsyncDisposableStack, origin: string, body: string): Promise<Whole> {
  const database = stack.use(await createTestDatabase())
  const folder = mkdtempSync(join(tmpdir(), 'bench-providers-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const { server: running, url } = await startPlatform(stack, {
    preload: new URL('../publishing/count.ts', import.meta.url).pathname,
    env: {
      DATA_DIR: folder,
      DATABASE_URL: database.url,
      LOG_LEVEL: 'info',
      AUTH_SECRET: randomBytes(32).toString('hex'),
      OPENAI_API_URL: `${origin}/v1`,
      OUTBOUND_ALLOW: origin,
    },
  })
  const { query } = await signIn(url)
  const { viewer } = await query<{ viewer: { organization: { id: string } } }>('{ viewer { organization { id } } }')
  await query('mutation($input: CreateCredentialInput!) { createCredential(input: $input) { id } }', {
    input: { provider: 'openai', name: 'Bench', fields: [{ name: 'apiKey', value: 'sk-bench-0123456789' }] },
  })
  for (const scope of [
    { scopeType: 'ORGANIZATION', scopeValue: viewer.organization.id },
    { scopeType: 'APP', scopeValue: 'app_providers' },
  ])
    await query('mutation($input: CreateSpendLimitInput!) { createSpendLimit(input: $input) { id } }', {
      input: { ...scope, period: 'MONTH', hardLimitMicros: 1_000_000_000_000 },
    })
  const { createApiKey } = await query<{ createApiKey: { secret: string } }>(
    'mutation { createApiKey(input: { name: "Bench", scopes: ["providers:ai.invoke"], rateLimit: 6000 }) { secret } }',
  )
  const headers = { authorization: `Bearer ${createApiKey.secret}` }
  const call = async () => {
    const answer = await fetch(url + path, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
    if (answer.status !== 200) throw new Error(`answered ${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
  }
  for (let round = 0; round < warming.together; round++) await Promise.all(Array.from({ length: warming.atOnce }, call))
  for (let calls = 0; calls < warming.alone; calls++) await call()
  const statementsOf = async () => {
    running.child.send('statements')
    return (await said<{ statements: [string, number][] }>(running)).statements
  }
  await statementsOf()
  const calls = 100
  for (let n = 0; n < calls; n++) await call()
  // The platform rarely executes statements that belong to no call.
  const statements = (await statementsOf()).filter(([, times]) => times >= calls / 2).flatMap(([text, times]) => Array(Math.round(times / calls)).fill(text))
  return { running, port: Number(new URL(url).port), path, headers, statements }
}
