import { type Sequelize, type Transaction, UniqueConstraintError } from 'sequelize'
import { keptStatements, rows } from './statement.ts'
import { columnOf, type Table } from './table.ts'

/** Cached statements: each set of columns that is written together needs one; a table has some dozen. */
const kept = keptStatements(500)

type Values = Readonly<Record<string, unknown>>

/** Returns attributes with their values in statement form; undefined ones are not written. */
const given = ({ columns }: Table, values: Values) =>
  Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [{ column: columnOf(name), value: columns[name]!.type === 'jsonb' && value !== null ? JSON.stringify(value) : value }],
  )

/**
 * Inserts a row by a statement that each connection parses once, while a model builds and plans its text each time: for
 * tables that are written many times a second.
 * @throws UniqueConstraintError, as a model does; DatabaseError
 */
export async function insertOften(sequelize: Sequelize, table: Table, row: Values, transaction: Transaction): Promise<void> {
  const written = given(table, row)
  const text = `insert into ${table.name} (${written.map(({ column }) => column).join(', ')}) values (${written.map((_, at) => `$${at + 1}`).join(', ')})`
  await run(
    sequelize,
    text,
    written.map(({ value }) => value),
    transaction,
  )
}

/** Updates the changed attributes of a row by its primary key, like `insertOften`. */
export async function updateOften(sequelize: Sequelize, table: Table, place: Values, changes: Values, transaction: Transaction): Promise<void> {
  const [written, where] = [given(table, changes), given(table, place)]
  if (written.length === 0) return
  const sets = written.map(({ column }, at) => `${column} = $${at + 1}`).join(', ')
  const conditions = where.map(({ column }, at) => `${column} = $${written.length + at + 1}`).join(' and ')
  await run(
    sequelize,
    `update ${table.name} set ${sets} where ${conditions}`,
    [...written, ...where].map(({ value }) => value),
    transaction,
  )
}

async function run(sequelize: Sequelize, text: string, values: readonly unknown[], transaction: Transaction): Promise<void> {
  try {
    await rows(sequelize, kept(text), values, transaction)
  } catch (error) {
    const cause = (error as { parent?: Error & { code?: string } }).parent
    if (cause?.code !== '23505') throw error
    throw new UniqueConstraintError({ parent: Object.assign(cause, { sql: text }), message: cause.message, errors: [] })
  }
}
