import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { newId } from '../../platform/ids.ts'
import { createTestDatabase } from '../kit/database.ts'

const [acme, other] = [newId(), newId()]
const [ada, ben] = ['user:ada', 'user:ben']

interface Key {
  readonly tenant: string
  readonly caller: string
  readonly key: string
  readonly made?: string
  readonly at?: string
}

/** What programs of the version before ask when they are sent a key. */
const claimOfBefore = (slug: string) =>
  `insert into ${slug}.idempotency_keys (tenant_id, caller, what, key, hash, made_id, at) values ($1, $2, 'post', $3, 'h', $4, $5)
   on conflict (tenant_id, caller, what, key) do update set at = ${slug}.idempotency_keys.at returning made_id as made`

test.each([
  ['publishing', '0011_keys_of_an_organization.sql', { same: { tenant: acme, caller: ben, key: 'both' }, kept: [{ tenant: other, caller: ada, key: 'both' }] }],
  ['identity', '0006_keys_of_a_person.sql', { same: { tenant: other, caller: ada, key: 'both' }, kept: [{ tenant: acme, caller: ben, key: 'both' }] }],
])('%s keeps the keys of before, of two that are one now the first; programs of before make nothing twice', async (slug, file, { same, kept }) => {
  await using database = await createTestDatabase({ empty: true })
  const folder = mkdtempSync(join(tmpdir(), 'keys-'))
  try {
    cpSync(join('db/migrations', slug), join(folder, slug), { recursive: true, filter: path => !path.endsWith('.sql') || path.split('/').at(-1)! < file })
    const run = () => migrate({ url: database.url, directory: folder, log: pino({ level: 'silent' }) })
    await run()
    const claim = async ({ tenant, caller, key, made = newId(), at = '2027-03-01' }: Key) => {
      const [rows] = await database.sequelize.query(claimOfBefore(slug), { bind: [tenant, caller, key, made, at] })
      return (rows as { made: string }[])[0]!.made
    }
    const first = { tenant: acme, caller: ada, key: 'both' }
    const made = await claim(first)
    await claim({ ...same, at: '2027-03-02' })
    const others = await Promise.all([...kept, { tenant: acme, caller: ada, key: 'alone' }].map(claim))
    cpSync(join('db/migrations', slug, file), join(folder, slug, file))
    expect(await run()).toEqual([`${slug}/${file}`])
    const [rows] = await database.sequelize.query(`select made_id as made from ${slug}.idempotency_keys`)
    expect((rows as { made: string }[]).map(row => row.made).sort()).toEqual([made, ...others].sort())
    expect(await claim(first), 'the same caller').toBe(made)
    await expect(claim(same), 'whom the key belongs to as well').rejects.toMatchObject({ parent: { code: '23505' } })
    expect(await claim({ tenant: acme, caller: ada, key: 'new', made: other })).toBe(other)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
