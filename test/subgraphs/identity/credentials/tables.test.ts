import { getMigrations } from 'better-auth/db/migration'
import pg from 'pg'
import { expect, it } from 'vitest'
import { type CredentialPorts, credentialOptions } from '../../../../subgraphs/identity/credentials/options.ts'
import type { IdentitySettings } from '../../../../subgraphs/identity/credentials/settings.ts'
import { createTestDatabase } from '../../../kit/database.ts'

it('the migrations of identity create every table and column that the credential library reads', async () => {
  await using database = await createTestDatabase()
  const pool = new pg.Pool({ connectionString: database.url, options: '-c search_path=identity', max: 2 })
  const settings = { secret: 'a'.repeat(32), clientAddressHeader: 'x-forwarded-for', trustsOrigin: () => false } as unknown as IdentitySettings
  const missing = await getMigrations(credentialOptions(pool, 'http://localhost', settings, {} as CredentialPorts))
  await pool.end()
  expect([missing.toBeCreated, missing.toBeAdded]).toEqual([[], []])
})
