import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { migrate } from '../../../../db/migrate.ts'
import { newId } from '../../../../platform/ids.ts'
import { createTestDatabase } from '../../../kit/database.ts'

const files = 'db/migrations/publishing'

test('a migrated database keeps valid rows, and a network id that two posts have stays with the first', async () => {
  await using database = await createTestDatabase({ empty: true })
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'))
  try {
    const directory = join(folder, 'migrations')
    mkdirSync(join(directory, 'publishing'), { recursive: true })
    const all = readdirSync(files)
    const bring = async (some: readonly string[]) => {
      for (const file of some) cpSync(join(files, file), join(directory, 'publishing', file))
      await migrate({ directory, url: database.url, log: pino({ level: 'silent' }) })
    }
    await bring(all.filter(file => file < '0003'))
    const rows = async (sql: string, bind: unknown[] = []) => (await database.sequelize.query(sql, { bind }))[0]
    const [brand, other, connection, otherConnection, deleted] = [newId(), newId(), newId(), newId(), newId()]
    const stamps = `'2027-03-01', '2027-03-01', 'user:1'`
    for (const id of [brand, other]) await rows(`insert into publishing.brands values ($1, '${newId()}', 'A brand', 1, ${stamps})`, [id])
    for (const [brandId, id] of [
      [brand, connection],
      [other, otherConnection],
    ])
      await rows(
        `insert into publishing.connections (brand_id, id, platform, author_id, external_account_id, account_name, access_token, connected_at, created_at, updated_at, created_by)
         values ($1, $2, 'X', '${newId()}', '7', '@a', 't', '2027-03-01', ${stamps})`,
        [brandId, id],
      )
    const post = async (brandId: string, connectionId: string, status: string, platformPostId: string | null, publishedAt: string | null) => {
      const id = newId()
      await rows(
        `insert into publishing.posts (brand_id, id, thread_id, position, platform, copy, status, connection_id, platform_post_id, published_at, attempts, created_at, updated_at, created_by)
         values ($1, $2, $2, 1, 'X', 'Same', $3, $4, $5, $6, 1, ${stamps})`,
        [brandId, id, status, connectionId, platformPostId, publishedAt],
      )
      return id
    }
    const second = await post(other, otherConnection, 'PUBLISHED', '17', '2027-03-02')
    const first = await post(brand, connection, 'PUBLISHED', '17', '2027-03-01')
    const draft = await post(brand, newId(), 'DRAFT', null, null)
    for (const [brandId, postId] of [
      [brand, first],
      [brand, deleted],
    ])
      await rows(
        `insert into publishing.attempts (brand_id, id, post_id, number, connection_id, copy, started_at, finished_at, outcome, platform_post_id, created_at, updated_at, created_by)
         values ($1, $2, $3, 1, $4, 'Same', '2027-03-01', '2027-03-01', 'DELIVERED', '17', ${stamps})`,
        [brandId, newId(), postId, postId === first ? connection : newId()],
      )
    await bring(all)
    const read = `select id, status, platform_post_id, external_account_id, connection_id, failure_code from publishing.posts where id = $1`
    expect(await rows(read, [first])).toMatchObject([{ status: 'PUBLISHED', platform_post_id: '17', external_account_id: '7', failure_code: null }])
    expect(await rows(read, [second])).toMatchObject([
      { status: 'FAILED', platform_post_id: null, external_account_id: '7', failure_code: 'DUPLICATE_CONTENT' },
    ])
    expect(await rows(read, [draft])).toMatchObject([{ status: 'DRAFT', connection_id: null }])
    // Of what was published before, the days are to be summed: those of each brand, once.
    expect(await rows('select brand_id, published_at from publishing.days_to_sum')).toEqual([{ brand_id: brand, published_at: new Date('2027-03-01') }])
    expect(await rows('select subject_id, action from publishing.audit_entries')).toEqual([{ subject_id: second, action: 'post.failed' }])
    expect(await rows('select post_id, external_account_id from publishing.attempts order by post_id nulls last')).toEqual([
      { post_id: first, external_account_id: '7' },
      { post_id: null, external_account_id: expect.stringMatching(/^unknown:/) },
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
