import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { columnOf } from '../../platform/sql/table.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'
import { keptBy } from '../kit/kept.ts'

const kept = Object.values(keptBy).flat()

interface Found {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
  readonly hasDefault: boolean
  readonly primary: boolean
  readonly generated: boolean
}

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const columnsOf = async (table: string): Promise<readonly Found[]> => {
  const [rows] = await database.sequelize.query(
    `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, not a.attnotnull as nullable, a.atthasdef and a.attgenerated = '' as "hasDefault",
       a.attgenerated <> '' as generated,
       exists (select from pg_index i where i.indrelid = a.attrelid and i.indisprimary and a.attnum = any(i.indkey)) as primary
     from pg_attribute a where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`,
    { bind: [table] },
  )
  return rows as Found[]
}

const checksOf = async (table: string): Promise<readonly string[]> => {
  const [rows] = await database.sequelize.query(
    `select pg_get_constraintdef(oid) as definition from pg_constraint where conrelid = $1::regclass and contype = 'c' order by definition`,
    { bind: [table] },
  )
  return (rows as { definition: string }[]).map(({ definition }) => definition)
}

/** How PostgreSQL calls the types of columns. */
const typeNames: Readonly<Record<string, string>> = { 'timestamptz(3)': 'timestamp(3) with time zone', timestamptz: 'timestamp with time zone' }

test.each(kept.map(each => [each.table.name, each] as const))('%s is in the database as it is declared', async (name, { table }) => {
  const declared = Object.entries(table.columns).map(([attribute, { type, nullable, primary, fallback }]) => ({
    name: columnOf(attribute),
    type: typeNames[type] ?? type,
    nullable,
    primary,
    hasDefault: fallback !== undefined && fallback !== null,
  }))
  const found = (await columnsOf(name)).filter(({ generated }) => !generated)
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
  expect(found.map(({ generated: _, ...column }) => column).sort(byName)).toEqual(declared.sort(byName))
})

test.each(
  kept.flatMap(each =>
    Object.entries(each.lists).map(([list, { below, only }]) => [`${each.table.name}.${list}`, each.table.name, columnOf(below), only] as const),
  ),
)('the list %s goes along an index', async (_list, name, below, only) => {
  const [rows] = await database.sequelize.query(`select pg_get_indexdef(i.indexrelid) as definition from pg_index i where i.indrelid = $1::regclass`, {
    bind: [name],
  })
  const definitions = (rows as { definition: string }[]).map(({ definition }) => definition)
  const fitting = definitions.filter(definition => new RegExp(`\\(${below}, created_at(?: DESC)?, id(?: DESC)?\\)`).test(definition))
  expect(fitting.length, `${definitions.join('\n')} ${only ?? ''}`).toBeGreaterThan(0)
})

describe.each(
  Object.entries(keptBy)
    .filter(([, own]) => own.length > 0)
    .map(([slug]) => slug),
)('%s, which keeps something,', slug => {
  test.each(['audit_entries', 'idempotency_keys'])('has %s like every other: whatever writes a row writes there too', async name => {
    const columns = async (of: string) => (await columnsOf(`${of}.${name}`)).map(({ name, type, nullable }) => `${name} ${type} ${nullable}`).sort()
    const [own, systemContext] = [await columns(slug), await columns('providers')]
    // Their records tell besides who asked, by which request, and identity's from where and whose account it concerns.
    expect(['identity', 'payments'].includes(slug) ? own.filter(column => systemContext.includes(column)) : own).toEqual(systemContext)
    expect(await checksOf(`${slug}.${name}`)).toEqual(await checksOf(`providers.${name}`))
  })
})
