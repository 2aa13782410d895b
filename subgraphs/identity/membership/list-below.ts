import { type Model, type ModelStatic, QueryTypes } from 'sequelize'
import type { ListStore } from '../../store/loader.ts'

/**
 * Reads lists of a table below their parents, by age, for `createListLoader`: for any number of parents one statement, which goes along an
 * index on (parent, created_at, id) for each of them.
 * @param table  with the attributes `createdAt` and `id`
 * @param parent the attribute that names the parent
 * @param only   a condition on rows `t`, as SQL: what else the list leaves out
 */
export function listBelow<Row extends { id: string; createdAt: Date }>(
  // biome-ignore lint/suspicious/noExplicitAny: rows are read as they are, so that what creates them is of no interest
  table: ModelStatic<Model<any, any>>,
  parent: Extract<keyof Row, string>,
  direction: 'oldest first' | 'newest first',
  only = 'true',
): ListStore<Row> {
  const sequelize = table.sequelize!
  const attributes: Record<string, { field?: string; type: { key?: string } | string }> = table.getAttributes()
  const columnOf = (attribute: string) => attributes[attribute]?.field ?? attribute
  const { schema, tableName } = table.getTableName() as unknown as { schema: string; tableName: string }
  const name = `${schema}.${tableName}`
  const columns = Object.keys(attributes)
    .map(attribute => `t.${columnOf(attribute)} as "${attribute}"`)
    .join(', ')
  const [above, at, id] = [`t.${columnOf(parent)}`, `t.${columnOf('createdAt')}`, `t.${columnOf('id')}`]
  const [past, way] = direction === 'oldest first' ? ['>', 'asc'] : ['<', 'desc']
  const type = (attribute: string) => ((attributes[attribute]?.type as { key?: string }).key === 'UUID' ? 'uuid' : 'text')
  const pages = `select row.* from unnest($1::${type(parent)}[]) as parent (id)
    cross join lateral (
      select ${columns} from ${name} t
      where ${above} = parent.id and ${only} and ($2::timestamptz is null or (${at}, ${id}) ${past} ($2::timestamptz, $3::${type('id')}))
      order by ${at} ${way}, ${id} ${way} limit $4
    ) row
    order by row."createdAt" ${way}, row.id ${way}`
  const counts = `select ${above} as parent, count(*)::int as count from ${name} t where ${above} = any($1::${type(parent)}[]) and ${only} group by ${above}`
  return {
    async pages(parents, { after, limit }) {
      const bind = [parents, after?.[0] ?? null, after?.[1] ?? null, limit]
      const rows = await sequelize.query<Row>(pages, { bind, type: QueryTypes.SELECT })
      return Map.groupBy(rows, row => String(row[parent]))
    },
    async counts(parents) {
      const rows = await sequelize.query<{ parent: string; count: number }>(counts, { bind: [parents], type: QueryTypes.SELECT })
      return new Map(rows.map(row => [row.parent, row.count]))
    },
  }
}
