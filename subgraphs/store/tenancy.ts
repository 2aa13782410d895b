import { type Statement, statement } from '../../platform/sql/statement.ts'
import { columnOf, type Table } from '../../platform/sql/table.ts'
import type { Viewer } from '../viewer.ts'

/**
 * How a row's organization is determined:
 * - by a column with the organization's id,
 * - through the row of a parent table,
 * - by a condition on the row `t`, with `:organization`, `:person` and `:roles` for the viewer's,
 * - not at all: everyone may see every row, and the noun says why.
 */
export type Tenancy<T extends Table> =
  | { readonly by: Extract<keyof T['columns'], string> }
  | { readonly through: Table; readonly owner: string; readonly by: Extract<keyof T['columns'], string> }
  | { readonly where: string }
  | { readonly everybody: string }

/** The viewer's properties that determine visible rows. */
export type Tenant = Pick<Viewer, 'organizationId' | 'userId' | 'roles'>

/** The condition, in SQL, under which a row `t` is seen. */
export function conditionOf<T extends Table>(tenancy: Tenancy<T>): string {
  if ('everybody' in tenancy) return 'true'
  if ('where' in tenancy) return `(${tenancy.where})`
  if ('through' in tenancy)
    return `exists (select from ${tenancy.through.name} o where o.id = t.${columnOf(tenancy.by)} and o.${columnOf(tenancy.owner)} = :organization)`
  return `t.${columnOf(tenancy.by)} = :organization`
}

const viewerFields = { organization: 'organizationId', person: 'userId', roles: 'roles' } as const

/** SQL with `$1`… for its own values, and the viewer's values bound behind them. */
export interface Bound {
  readonly text: string
  values(own: readonly unknown[], tenant: Tenant): readonly unknown[]
}

/**
 * Binds `:organization`, `:person` and `:roles`.
 * @param own number of the SQL's own values
 */
export function bindTenant(sql: string, own: number): Bound {
  const wanted: (keyof Tenant)[] = []
  const place = (name: keyof Tenant) => {
    if (!wanted.includes(name)) wanted.push(name)
    return `$${own + wanted.indexOf(name) + 1}`
  }
  const text = sql.replace(/(?<!:):(organization|person|roles)\b/g, (_, name: keyof typeof viewerFields) => place(viewerFields[name]))
  return { text, values: (values, tenant) => (wanted.length === 0 ? values : [...values, ...wanted.map(name => tenant[name])]) }
}

/** A statement with the viewer's values bound behind its own. */
export type BoundStatement = Statement & Bound

/** Prepares SQL as `bindTenant` does. Create it once and keep it. */
export function boundStatement(sql: string, own: number): BoundStatement {
  const tenant = bindTenant(sql, own)
  return { ...tenant, ...statement(tenant.text) }
}

/** Binds nobody: for statements that anonymous callers run. */
export const noTenant: Tenant = { organizationId: null, userId: null, roles: [] }
