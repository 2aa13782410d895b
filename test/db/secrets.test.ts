import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { rewriteSecrets, sealedColumns } from '../../db/secrets.ts'
import { createCipher } from '../../platform/cipher.ts'
import { newId } from '../../platform/ids.ts'
import type { SealedColumn } from '../../subgraphs/store/sealed.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'

const [old, next] = ['old', 'next'].map(id => ({ id, key: randomBytes(32) })) as [{ id: string; key: Buffer }, { id: string; key: Buffer }]
const [before, after] = [createCipher([old]), createCipher([next, old])]
const column: SealedColumn = { table: 'trial.things', key: 'id', column: 'secret', about: id => `thing:${id}` }

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
  await database.sequelize.query('create schema trial; create table trial.things (id uuid primary key, secret text)')
})
afterEach(() => database.drop())

const keep = (id: string, sealed: string | null) => database.sequelize.query('insert into trial.things values ($1, $2)', { bind: [id, sealed] })
const kept = async () =>
  new Map(((await database.sequelize.query('select id, secret from trial.things'))[0] as { id: string; secret: string }[]).map(row => [row.id, row.secret]))
const rewrite = () => rewriteSecrets(database.sequelize, after, 'next', undefined, [column])

test('values encrypted with an older key are encrypted with the newest, in any number, and can be decrypted as before', async () => {
  const ids = Array.from({ length: 450 }, () => newId())
  for (const id of ids) await keep(id, before.seal(`secret of ${id}`, column.about(id)))
  const [mine, none] = [newId(), newId()]
  const fresh = after.seal('mine', column.about(mine))
  await keep(mine, fresh)
  await keep(none, null)
  expect(await rewrite()).toEqual([{ column, written: 450, closed: [] }])
  const found = await kept()
  const alone = createCipher([next])
  for (const id of ids) expect(alone.open(found.get(id)!, column.about(id))).toBe(`secret of ${id}`)
  expect([found.get(mine), found.get(none)]).toEqual([fresh, null])
  expect(await rewrite()).toEqual([{ column, written: 0, closed: [] }])
})

test('values that another process writes meanwhile stay as written', async () => {
  const id = newId()
  await keep(id, before.seal('old', column.about(id)))
  const news = before.seal('new', column.about(id))
  const { sequelize } = database
  // Another process replaces the value right after it was read.
  const raced = new Proxy(sequelize, {
    get: (target, name) =>
      name !== 'query'
        ? Reflect.get(target, name)
        : async (...asked: Parameters<typeof sequelize.query>) => {
            const answer = await sequelize.query(...asked)
            if (String(asked[0]).startsWith('select')) await sequelize.query('update trial.things set secret = $1 where id = $2', { bind: [news, id] })
            return answer
          },
  })
  expect(await rewriteSecrets(raced, after, 'next', undefined, [column])).toEqual([{ column, written: 0, closed: [] }])
  expect((await kept()).get(id)).toBe(news)
  expect((await rewrite())[0]!.written).toBe(1)
})

test('a run that was cut off is gone on with by the next', async () => {
  const ids = Array.from({ length: 250 }, () => newId())
  for (const id of ids) await keep(id, before.seal('x', column.about(id)))
  const cut = rewriteSecrets(
    database.sequelize,
    after,
    'next',
    () => {
      throw new Error('cut off')
    },
    [column],
  )
  await expect(cut).rejects.toThrow('cut off')
  expect(await rewrite()).toEqual([{ column, written: 50, closed: [] }])
})

test('values that no configured key can decrypt are reported, and left unchanged', async () => {
  const [good, bad] = [newId(), newId()]
  const foreign = createCipher([{ id: 'gone', key: randomBytes(32) }]).seal('x', column.about(bad))
  await keep(good, before.seal('good', column.about(good)))
  await keep(bad, foreign)
  expect(await rewrite()).toEqual([{ column, written: 1, closed: [bad] }])
  expect((await kept()).get(bad)).toBe(foreign)
})

test('every listed column exists, and so does the key of its row', async () => {
  for (const { table, key, column: name } of sealedColumns) await database.sequelize.query(`select ${key}, ${name} from ${table} limit 0`)
})

/** What is sealed in one file and kept by another. */
const keptIn: Readonly<Record<string, string>> = {
  'subgraphs/identity/credentials/signing-key/keys.ts': 'subgraphs/identity/stores/credentials/signing-key.ts',
  'subgraphs/launcher/engines/notify/push/push.ts': 'subgraphs/launcher/stores/inbox/push-subscription.ts',
}

test('every noun that encrypts declares its columns, so that they are rewritten', async () => {
  const root = join(import.meta.dirname, '../..')
  const files = await Array.fromAsync(glob('subgraphs/**/*.ts', { cwd: root }))
  const sealing = files.filter(file => /\bcipher\.seal\(/.test(readFileSync(join(root, file), 'utf8')))
  expect(sealing.length).toBeGreaterThan(3)
  for (const file of sealing)
    expect(readFileSync(join(root, keptIn[file] ?? file), 'utf8'), `${file}: export its SealedColumn, and enter it in db/secrets.ts`).toContain('SealedColumn')
})
