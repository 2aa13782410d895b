import type { Sequelize } from 'sequelize'
import { NotReady } from '../../platform/errors.ts'
import { rows, statement } from '../../platform/sql/statement.ts'
import type { Foundation } from '../subgraph.ts'

/** Checks whether stored values can be decrypted with the configured keys. */
export interface KeyCheck {
  /** Rejects with a `NotReady` that names each missing key; each finding is logged once. */
  check(): Promise<void>
}

/**
 * A column of encrypted values, with an index on `split_part(column, '.', 2)`, and the function that decrypts a row's
 * value.
 */
export interface SealedColumn {
  readonly column: string
  /** Throws for a value of a key that is missing. */
  open(id: string, sealed: string): unknown
}

/** Maximum number of keys that are checked; operators rotate keys far less often. */
const mostKeys = 100

/**
 * Selects one row for each key that a column's values were encrypted with: the index is searched for the next key, so
 * the cost does not grow with the rows.
 */
const oneOfEachKey = (table: string, column: string) =>
  statement(`
  with recursive keys (id) as (
    (select min(split_part(${column}, '.', 2)) from ${table} where ${column} is not null)
    union all
    select (select min(split_part(c.${column}, '.', 2)) from ${table} c
            where c.${column} is not null and split_part(c.${column}, '.', 2) > k.id)
    from keys k where k.id is not null
  )
  select k.id as "keyId", c.* from (select id from keys where id is not null limit ${mostKeys}) k cross join lateral (
    select id, ${column} as sealed from ${table}
    where ${column} is not null and split_part(${column}, '.', 2) = k.id limit 1) c`)

/**
 * Creates the check of the keys that a table's rows were encrypted with.
 * @param consequence a clause for the log about what does not work without such a key
 */
export function createKeyCheck(
  sequelize: Sequelize,
  { table, columns, consequence, log }: { table: string; columns: readonly SealedColumn[]; consequence: string; log: Foundation['log'] },
): KeyCheck {
  const looks = columns.map(({ column, open }) => ({ wanted: oneOfEachKey(table, column), open }))
  let logged = ''
  const opens = (open: SealedColumn['open'], id: string, sealed: string): boolean => {
    try {
      open(id, sealed)
      return true
    } catch {
      return false
    }
  }
  return {
    async check() {
      const found = await Promise.all(
        looks.map(async ({ wanted, open }) => {
          const each = await rows<{ keyId: string; id: string; sealed: string }>(sequelize, wanted, [])
          return each.filter(({ id, sealed }) => !opens(open, id, sealed)).map(({ keyId }) => keyId)
        }),
      )
      const keys = [...new Set(found.flat())].join(', ')
      const isNews = keys !== logged
      logged = keys
      if (!keys) return
      if (isNews) log.error({ keys }, `${consequence} sealed with an encryption key that is missing in ENCRYPTION_KEYS, or is another one there`)
      throw new NotReady(`encryption key ${keys} is missing in ENCRYPTION_KEYS, or is another one`)
    },
  }
}
