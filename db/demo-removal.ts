import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { Config } from '../config.ts'
import { StartError } from '../start-error.ts'
import { demoWorld } from './demo.ts'

const emails = demoWorld.people.map(({ email }) => email)

/** What a database holds of the demo. */
export interface DemoFound {
  /** Addresses of the demo accounts. */
  readonly accounts: readonly string[]
  /** Organizations in which there is nobody but demo accounts: they go with all that is in them. */
  readonly organizations: readonly { readonly id: string; readonly slug: string }[]
  /** Slugs of those that have other members as well: they stay, without the demo people. */
  readonly shared: readonly string[]
}

/** Looks for demo accounts: people with the addresses of the demo, which are reserved names (RFC 2606) and nobody else's. */
export async function findDemo(sequelize: Sequelize, transaction: Transaction | null = null): Promise<DemoFound> {
  const rows = <Row extends object>(sql: string, bind: unknown[]) => sequelize.query<Row>(sql, { type: QueryTypes.SELECT, bind, transaction })
  const [there] = await rows<{ there: boolean }>(`select to_regclass('identity.users') is not null as there`, [])
  if (!there!.there) return { accounts: [], organizations: [], shared: [] }
  const accounts = await rows<{ email: string }>('select email from identity.users where email = any($1::text[]) order by email', [emails])
  const organizations = await rows<{ id: string; slug: string; shared: boolean }>(
    `select o.id, o.slug, bool_or(u.email <> all ($1::text[])) as shared
       from identity.organizations o join identity.memberships m on m.organization_id = o.id join identity.users u on u.id = m.user_id
      group by o.id having bool_or(u.email = any ($1::text[])) order by o.slug`,
    [emails],
  )
  return {
    accounts: accounts.map(({ email }) => email),
    organizations: organizations.filter(({ shared }) => !shared).map(({ id, slug }) => ({ id, slug })),
    shared: organizations.filter(({ shared }) => shared).map(({ slug }) => slug),
  }
}

/**
 * Refuses to go on where demo accounts would be a way in for everybody: in production, and in staging that was not asked for a demo.
 * @returns a notice for development, when they are there and were not asked for
 * @throws StartError with one line that says how to remove them
 */
export async function checkDemoAccounts(sequelize: Sequelize, { environment, demo }: Pick<Config, 'environment' | 'demo'>): Promise<readonly string[]> {
  if (demo) return []
  const { accounts } = await findDemo(sequelize)
  if (accounts.length === 0) return []
  const told = `the database holds demo accounts, whose password everybody knows (${accounts.join(', ')})`
  if (environment === 'development') return [`${told}: npm run demo:remove removes them`]
  throw new StartError(`${told}, and ENVIRONMENT is ${environment}: remove them with npm run demo:remove, or use another database`)
}

/**
 * Removes the demo in one transaction: its accounts with their sessions, memberships and keys, and the organizations in which there is nobody
 * else, with everything that any subgraph keeps of them.
 * @returns what was found, and is gone
 */
export function removeDemo(sequelize: Sequelize): Promise<DemoFound> {
  return sequelize.transaction(async transaction => {
    const run = <Row extends object>(sql: string, bind: unknown[] = []) => sequelize.query<Row>(sql, { type: QueryTypes.SELECT, bind, transaction })
    const found = await findDemo(sequelize, transaction)
    if (found.accounts.length === 0) return found
    const organizations = found.organizations.map(({ id }) => id)
    const users = (await run<{ id: string }>('select id from identity.users where email = any($1::text[])', [emails])).map(({ id }) => id)
    const brands = (await run<{ id: string }>('select id::text from publishing.brands where organization_id = any($1::text[])', [organizations])).map(
      ({ id }) => id,
    )
    for (const { name } of await run<{ name: string }>(jobTables)) await run(`delete from ${name} where data->>'brandId' = any($1::text[])`, [brands])
    // A table refers to another by organization or brand (their keys of distribution); which one goes first, its foreign keys say.
    const tables = await run<{ name: string; key: string }>(keyedTables)
    const deletions = tables.map(({ name, key }) => ({
      sql: `delete from ${name} where ${key}::text = any($1::text[])`,
      bind: [key === 'brand_id' ? brands : organizations],
    }))
    await inAnyOrder(
      [
        ...deletions,
        { sql: 'delete from identity.api_keys where created_by = any($1::text[])', bind: [users] },
        { sql: 'delete from identity.memberships where user_id = any($1::text[])', bind: [users] },
        { sql: 'delete from identity.organizations where id = any($1::text[])', bind: [organizations] },
        { sql: 'delete from identity.users where id = any($1::text[])', bind: [users] },
      ],
      sequelize,
      transaction,
    )
    return found
  })
}

interface Deletion {
  readonly sql: string
  readonly bind: unknown[]
}

const foreignKeyViolation = '23503'

/** Runs deletions, those that others still refer to after these. @throws what the database says when none is left that can go */
async function inAnyOrder(deletions: readonly Deletion[], sequelize: Sequelize, transaction: Transaction): Promise<void> {
  const waiting: Deletion[] = []
  let last: unknown
  for (const deletion of deletions) {
    await sequelize.query('savepoint one_deletion', { transaction })
    try {
      await sequelize.query(deletion.sql, { bind: deletion.bind, transaction })
      await sequelize.query('release savepoint one_deletion', { transaction })
    } catch (error) {
      if ((error as { original?: { code?: unknown } }).original?.code !== foreignKeyViolation) throw error
      await sequelize.query('rollback to savepoint one_deletion', { transaction })
      waiting.push(deletion)
      last = error
    }
  }
  if (waiting.length === deletions.length) throw last
  if (waiting.length > 0) await inAnyOrder(waiting, sequelize, transaction)
}

/** Tables of the subgraphs whose rows belong to an organization or a brand. */
const keyedTables = `
  select format('%I.%I', c.table_schema, c.table_name) as name, c.column_name as key
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
   where t.table_type = 'BASE TABLE' and c.column_name in ('organization_id', 'brand_id')
     and left(c.table_schema, 3) <> 'pg_' and right(c.table_schema, 5) <> '_jobs'
   order by c.column_name, name`

const jobTables = `
  select format('%I.%I', table_schema, table_name) as name from information_schema.tables where right(table_schema, 5) = '_jobs' and table_name = 'job'`
