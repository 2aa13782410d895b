import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrate } from '../../../db/migrate.ts'
import { readIdempotency } from '../../../platform/idempotency.ts'
import { newId } from '../../../platform/ids.ts'
import { createTestDatabase, type TestDatabase } from '../../kit/database.ts'

const files = 'db/migrations/identity'
const oneRecord = '0005_one_record.sql'

let database: TestDatabase
let directory: string
beforeEach(async () => {
  database = await createTestDatabase({ empty: true })
  directory = mkdtempSync(join(tmpdir(), 'identity-migrations-'))
  cpSync(files, join(directory, 'identity'), { recursive: true, filter: file => !/00(?:0[5-9]|[1-9]\d)_/.test(file) })
  await run()
})
afterEach(async () => {
  rmSync(directory, { recursive: true })
  await database.drop()
})

const run = () => migrate({ url: database.url, directory, log: pino({ level: 'silent' }) })
const write = async (table: string, row: Record<string, unknown>) => {
  const names = Object.keys(row)
  const places = names.map((_, place) => `$${place + 1}`)
  await database.sequelize.query(`insert into identity.${table} (${names}) values (${places})`, { bind: Object.values(row) })
}
const read = async (sql: string) => (await database.sequelize.query(sql))[0]

test('rows of an earlier version keep their ids, authors, audit entries and idempotency keys', async () => {
  const [person, organization, foundation, membership, key, bare] = Array.from({ length: 6 }, () => newId())
  const at = '2026-05-04T03:02:01.987Z'
  const times = { created_at: at, updated_at: at }
  await write('users', { id: person, name: 'Ada', email: 'ada@acme.test', email_verified: true, ...times })
  await write('accounts', { id: newId(), account_id: person, provider_id: 'credential', user_id: person, ...times })
  await write('sessions', { id: newId(), token: 't', expires_at: at, user_id: person, active_organization_id: organization, ...times })
  await write('sign_in_addresses', { user_id: person, address_hash: 'h', last_at: at })
  const made = { version: 1, ...times, created_by: person }
  await write('organizations', { id: organization, slug: 'acme', name: 'Acme', ...made })
  await write('organizations', { id: foundation, slug: 'admin', name: 'Platform', ...made, created_by: null })
  await write('memberships', { organization_id: organization, id: membership, user_id: person, roles: ['owner'], ...made })
  const facts = { organization_id: organization, hash: 'h', prefix: 'sgk_', ...made }
  const content = {
    name: 'Zoë’s "importer" \\ 1',
    scopes: ['publishing:posts.read', 'publishing:posts.write'],
    expiresAt: new Date('2027-01-02T03:04:05.670Z'),
  }
  await write('api_keys', { ...facts, id: key, name: content.name, scopes: content.scopes, expires_at: content.expiresAt, idempotency_key: 'once' })
  await write('api_keys', { ...facts, id: bare, name: 'bare', scopes: ['publishing:posts.read'], idempotency_key: 'again' })
  await write('api_keys', { ...facts, id: newId(), name: 'without', scopes: ['publishing:posts.read'] })
  const entries = [newId(), newId()]
  await write('audit_entries', { organization_id: organization, id: entries[0], user_id: person, action: 'api_key.created', target: key, at })
  await write('audit_entries', { organization_id: organization, id: entries[1], user_id: null, action: 'membership.added', target: membership, at })

  cpSync(join(files, oneRecord), join(directory, 'identity', oneRecord))
  expect(await run()).toEqual([`identity/${oneRecord}`])

  expect(await read('select slug, created_by from identity.organizations order by slug')).toEqual([
    { slug: 'acme', created_by: `user:${person}` },
    { slug: 'admin', created_by: 'platform' },
  ])
  expect(await read('select user_id, active_organization_id from identity.sessions')).toEqual([{ user_id: person, active_organization_id: organization }])
  expect(await read('select id, created_by from identity.memberships')).toEqual([{ id: membership, created_by: `user:${person}` }])
  expect(await read('select id, tenant_id, actor, action, subject_id, details from identity.audit_entries order by action')).toEqual([
    { id: entries[0], tenant_id: organization, actor: `user:${person}`, action: 'api_key.created', subject_id: key, details: {} },
    { id: entries[1], tenant_id: organization, actor: 'platform', action: 'membership.added', subject_id: membership, details: {} },
  ])
  const once = { tenant_id: organization, caller: `user:${person}`, what: 'API key' }
  const hashOf = (input: object) => readIdempotency({ idempotencyKey: 'any', ...input })!.hash
  expect(await read('select tenant_id, caller, what, key, hash, made_id from identity.idempotency_keys order by key')).toEqual([
    { ...once, key: 'again', hash: hashOf({ name: 'bare', scopes: ['publishing:posts.read'], expiresAt: null }), made_id: bare },
    { ...once, key: 'once', hash: hashOf(content), made_id: key },
  ])
  await read(`delete from identity.memberships where user_id = '${person}'`)
  await read(`delete from identity.users where id = '${person}'`)
  expect(await read('select id from identity.accounts union all select id from identity.sessions')).toEqual([])
})

test('id columns are of type uuid, except a provider’s name for a person', async () => {
  cpSync(join(files, oneRecord), join(directory, 'identity', oneRecord))
  await run()
  expect(
    await read(
      `select table_name || '.' || column_name as name from information_schema.columns
        where table_schema = 'identity' and data_type <> 'uuid' and (column_name = 'id' or column_name like '%\\_id') order by 1`,
    ),
  ).toEqual([{ name: 'accounts.account_id' }, { name: 'accounts.provider_id' }, { name: 'service_entries.app_id' }])
})
