import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Door, openDoor, type Reply } from '../kit/door.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

const auth = '/identity/api/auth'
const password = 'correct horse battery'
const code = 'c'.repeat(43)

let graph: Supergraph
let door: Door

beforeAll(async () => {
  graph = await supergraph({ now: new Date().toISOString() })
  door = await openDoor(graph)
  await graph.platform.identity.provision({ password, people: [{ email: 'ada@acme.test', name: 'Ada' }], organizations: [], keys: [] } as never)
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

/** Lets a request come as far as to a statement of identity, and cuts the connection of that one, and of each that comes in its place. */
async function cut(ask: () => Promise<Reply>): Promise<Reply> {
  const holder = new pg.Client({ connectionString: graph.database.url })
  await holder.connect()
  try {
    const tables = ['accounts', 'account_requests', 'codes', 'oauth_codes', 'sessions', 'users'].map(name => `identity.${name}`)
    await holder.query(`begin; lock table ${tables.join(', ')} in access exclusive mode`)
    let over = false
    const answer = ask().finally(() => {
      over = true
    })
    const waiting = `pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    // The transaction reads the snapshot of its first statement.
    while (!over) await holder.query(`select pg_stat_clear_snapshot(); select pg_terminate_backend(pid) from ${waiting}`)
    return await answer
  } finally {
    await holder.end()
  }
}

const post = (path: string, body: object) => () => door.ask('POST', `${auth}/${path}`, { body })
const form = (path: string, fields: Record<string, string>) => () =>
  door.ask('POST', `${auth}/${path}`, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(new URLSearchParams(fields).toString()),
  })

test.each<[string, () => Promise<Reply>]>([
  ['signs in', post('sign-in/email', { email: 'ada@acme.test', password })],
  ['signs up', post('sign-up/email', { email: 'bo@acme.test', password, name: 'Bo' })],
  ['asks for a new password', post('request-password-reset', { email: 'ada@acme.test' })],
  ['sets one', post('reset-password', { code, newPassword: 'another horse battery' })],
  ['confirms an address', post('verify-email', { code })],
  ['comes with a handoff', post('sso/exchange', { code, serviceId: '018f0000-0000-7000-8000-000000000001' })],
  [
    'exchanges a code of OAuth',
    form('oauth2/token', { grant_type: 'authorization_code', client_id: 'x', code, redirect_uri: 'http://127.0.0.1/', code_verifier: code }),
  ],
])('whoever %s while the database is away is told to come again, as everywhere, and not that something broke', async (_, ask) => {
  const { status, headers, json } = await cut(ask)
  expect([status, json.code, headers['retry-after']]).toEqual([502, 'UPSTREAM_FAILED', '1'])
})
