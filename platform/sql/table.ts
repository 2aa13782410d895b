import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'

/** A type of PostgreSQL that a column may have. */
export type SqlType = 'uuid' | 'text' | 'text[]' | 'integer' | 'bigint' | 'boolean' | 'timestamptz(3)' | 'timestamptz' | 'jsonb'

declare const value: unique symbol
declare const given: unique symbol

/** A column of a table. `Given` says whether a new row must have a value for it. */
export interface Column<Value = unknown, Given extends 'always' | 'maybe' = 'always' | 'maybe'> {
  readonly type: SqlType
  readonly nullable: boolean
  readonly primary: boolean
  /** Value of a new row where none is given: null, or the database's default. Undefined: it is required. */
  readonly fallback: unknown
  readonly [value]?: Value
  readonly [given]?: Given
}

/** A column that may still be refined. */
export interface OpenColumn<Value, Given extends 'always' | 'maybe'> extends Column<Value, Given> {
  /** Makes the column nullable, with null where no value is given. */
  readonly maybe: OpenColumn<Value | null, 'maybe'>
  /** Makes the column part of the primary key. */
  readonly key: OpenColumn<Value, Given>
  /** Gives the column a default value; the database must have the same. */
  or(fallback: Value): OpenColumn<Value, 'maybe'>
  /** Restricts the column's values, where TypeScript knows more than SQL. */
  of<Narrow extends Value>(): OpenColumn<Narrow, Given>
}

function column<Value, Given extends 'always' | 'maybe' = 'always'>(
  facts: Pick<Column, 'type' | 'nullable' | 'primary' | 'fallback'>,
): OpenColumn<Value, Given> {
  return {
    ...facts,
    get maybe() {
      return column<Value | null, 'maybe'>({ ...facts, nullable: true, fallback: null })
    },
    get key() {
      return column<Value, Given>({ ...facts, primary: true })
    },
    or: fallback => column<Value, 'maybe'>({ ...facts, fallback }),
    of: <Narrow extends Value>() => column<Narrow, Given>(facts),
  }
}

const plain = <Value>(type: SqlType) => column<Value>({ type, nullable: false, primary: false, fallback: undefined })

export const uuid = plain<string>('uuid')
export const text = plain<string>('text')
export const texts = plain<readonly string[]>('text[]')
export const integer = plain<number>('integer')
/** A whole number beyond 32 bits, such as an amount of money. */
export const whole = plain<bigint>('bigint')
export const truth = plain<boolean>('boolean')
/** A moment, to the millisecond. */
export const moment = plain<Date>('timestamptz(3)')
/** A timestamp in a table whose columns a library declares. */
export const foreignMoment = plain<Date>('timestamptz')
export const json = plain<unknown>('jsonb')

/** Columns of every row that people write: version for optimistic locking, times for order, and the authors. */
export const stamps = { version: integer.or(1), createdAt: moment, updatedAt: moment, createdBy: text } as const

export type Columns = Readonly<Record<string, Column>>

/** A table with all its columns. Row type, model and select list derive from it. */
export interface Table<Of extends Columns = Columns> {
  /** Name with schema: `publishing.brands`. */
  readonly name: string
  readonly columns: Of
}

type ValueOf<C> = C extends Column<infer Value, 'always' | 'maybe'> ? Value : never
type MayBeLeftOut<Of extends Columns> = {
  [Name in keyof Of]: Of[Name] extends Column<never, 'always'> ? never : GivenOf<Of[Name]> extends 'maybe' ? Name : never
}[keyof Of]
type GivenOf<C> = C extends { readonly [given]?: infer Given } ? Exclude<Given, undefined> : never

/** A row as read. */
export type Row<T extends Table> = { -readonly [Name in keyof T['columns']]: ValueOf<T['columns'][Name]> }

/** A row as written: attributes with a default may be omitted. */
export type NewRow<T extends Table> = Omit<Row<T>, MayBeLeftOut<T['columns']>> & Partial<Pick<Row<T>, MayBeLeftOut<T['columns']>>>

/**
 * Declares a table.
 * @param name with its schema: `publishing.brands`. Columns are named like their attributes, in snake case
 */
export const table = <const Of extends Columns>(name: string, columns: Of): Table<Of> => ({ name, columns })

/** Converts `organizationId` to its column name, `organization_id`. */
export const columnOf = (attribute: string): string => attribute.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/**
 * Returns the select list of a table: every column under its attribute's name.
 * @param alias the table's alias in the statement
 */
export const selectList = ({ columns }: Table, alias: string): string =>
  Object.keys(columns)
    .map(name => `${alias}.${columnOf(name)} as "${name}"`)
    .join(', ')

/** The attributes that make up the primary key. */
export const keyOf = ({ columns }: Table): readonly string[] => Object.keys(columns).filter(name => columns[name]!.primary)

const types = {
  uuid: () => DataTypes.UUID,
  text: () => DataTypes.TEXT,
  'text[]': () => DataTypes.ARRAY(DataTypes.TEXT),
  integer: () => DataTypes.INTEGER,
  bigint: () => DataTypes.BIGINT,
  boolean: () => DataTypes.BOOLEAN,
  'timestamptz(3)': () => DataTypes.DATE(3),
  timestamptz: () => DataTypes.DATE,
  jsonb: () => DataTypes.JSONB,
} as const satisfies Record<SqlType, () => unknown>

// biome-ignore lint/suspicious/noExplicitAny: what a row holds is known by its table, not by the model
type AnyModel = ModelStatic<Model<any, any>>

const models = new WeakMap<Sequelize, Map<Table, AnyModel>>()

/**
 * Returns the model of a table on one database; two platforms in one process have two of them. Models write rows; reads
 * do not use them.
 */
export function modelOf(sequelize: Sequelize, table: Table): AnyModel {
  let known = models.get(sequelize)
  if (!known) {
    known = new Map()
    models.set(sequelize, known)
  }
  const present = known.get(table)
  if (present) return present
  const [schema, tableName] = table.name.split('.') as [string, string]
  const attributes = Object.entries(table.columns).map(([name, { type, nullable, primary, fallback }]) => [
    name,
    { type: types[type](), primaryKey: primary, allowNull: nullable, ...(fallback !== undefined && fallback !== null && { defaultValue: fallback }) },
  ])
  const model = sequelize.define(table.name, Object.fromEntries(attributes), { schema, tableName, underscored: true, timestamps: false })
  known.set(table, model)
  return model
}
