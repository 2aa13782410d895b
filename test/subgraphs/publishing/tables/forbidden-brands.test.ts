import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

// What the rules of brands, connections and authorizations never write, written by hand: each statement is refused by a constraint.

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph()
  const { brand } = await graph.seed.owner().brand().connection({ externalAccountId: '1' })
  const now = graph.clock.now()
  await graph.job.authorizations.begin(
    { state: 's', verifier: 'v', brandId: brand.id, platform: 'X', userId: newId(), browserHash: null, begunBy: null, organizationName: null },
    now,
  )
})
afterAll(() => graph[Symbol.asyncDispose]())

const now = '2027-03-01T09:00:00Z'
const inactive = `active = false, deactivated_reason = 'x', access_token = null, refresh_token = null, token_expires_at = null`

describe.each([
  [
    'brands',
    [`name = ''`, `name = repeat('x', 81)`, `name = ' x'`, `description = ''`, `description = repeat('x', 2001)`, 'version = 0', `id = '${newId()}'`],
    ['archived_at = null', `description = 'x'`],
  ],
  [
    'connections',
    [
      `brand_id = '${newId()}'`,
      `platform = 'Y'`,
      `external_account_id = ''`,
      `account_name = ''`,
      'version = 0',
      'access_token = null',
      'active = false',
      `deactivated_reason = 'x'`,
      `${inactive.replace('access_token = null', 'version = 1')}`,
      `${inactive.replace('refresh_token = null', 'version = 1')}`,
      `${inactive.replace('token_expires_at = null', 'version = 1')}`,
      `${inactive}, renewal_id = '${newId()}', renewal_until = '${now}'`,
      `renewal_id = '${newId()}'`,
      `renewal_until = '${now}'`,
      'renewal_beats = -1',
    ],
    [`renewal_id = '${newId()}', renewal_until = '${now}'`, `${inactive}, renewal_id = null, renewal_until = null`],
  ],
  [
    'authorizations',
    [
      `brand_id = '${newId()}'`,
      `platform = 'Y'`,
      `state_hash = 's'`,
      `browser_hash = 'b'`,
      `confirm_hash = 'c'`,
      'expires_at = created_at',
      `connection_id = '${newId()}'`,
    ],
    [`browser_hash = repeat('0', 64)`, `used_at = '${now}', connection_id = '${newId()}'`],
  ],
])('the table of %s', (table, forbidden, allowed) => {
  test.each(forbidden)('refuses %s', change =>
    expect(graph.rows(`update publishing.${table} set ${change}`)).rejects.toMatchObject({ parent: { code: expect.stringMatching(/^23(514|503)$/) } }))

  test.each(allowed)('accepts %s', async change => void (await graph.rows(`update publishing.${table} set ${change}`)))
})

test('a state belongs to one authorization, an account to one connection of a brand, and a key creates one record for a caller', async () => {
  const copies = {
    authorizations: `insert into publishing.authorizations select * from publishing.authorizations`,
    connections: `insert into publishing.connections (brand_id, id, platform, author_id, external_account_id, account_name, active, deactivated_reason, connected_at, created_at,
       updated_at, created_by) select brand_id, gen_random_uuid(), platform, author_id, external_account_id, account_name, false, 'x', connected_at, created_at, updated_at,
       created_by from publishing.connections`,
    idempotency_keys: `insert into publishing.idempotency_keys (tenant_id, caller, what, key, hash, made_id, at)
       select organization_id, created_by, 'brand', 'k', 'h', gen_random_uuid(), created_at from publishing.brands cross join generate_series(1, 2)`,
  }
  for (const [table, copy] of Object.entries(copies)) await expect(graph.rows(copy), table).rejects.toMatchObject({ parent: { code: '23505' } })
})
