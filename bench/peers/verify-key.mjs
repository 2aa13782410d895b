// better-auth's own check of an API key (`verifyApiKey` of @better-auth/api-key), on the same PostgreSQL, with its limit of requests off.
// Argument: the database's address.
import { apiKey } from '@better-auth/api-key'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import pg from 'pg'
import { takeTurns } from '../turns.mjs'

const schema = 'better_auth_peer'
const url = new URL(process.argv[2])
const maker = new pg.Client(url.href)
await maker.connect()
await maker.query(`drop schema if exists ${schema} cascade; create schema ${schema}`)
await maker.end()
url.searchParams.set('options', `-c search_path=${schema}`)

const options = {
  database: new pg.Pool({ connectionString: url.href }),
  secret: 'a secret of the bench that is long enough',
  baseURL: 'http://localhost:4000',
  emailAndPassword: { enabled: true },
  telemetry: { enabled: false },
  plugins: [apiKey({ rateLimit: { enabled: false } })],
}
const { runMigrations } = await getMigrations(options)
await runMigrations()
const auth = betterAuth(options)
const { user } = await auth.api.signUpEmail({ body: { email: 'bench@bench.test', password: 'a long enough password', name: 'Bench' } })
const { key } = await auth.api.createApiKey({ body: { name: 'bench', userId: user.id } })

async function work() {
  const { valid } = await auth.api.verifyApiKey({ body: { key } })
  if (!valid) throw new Error('better-auth refuses its own key')
  return 'known'
}
await takeTurns(work)
