import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { Config } from '../config.ts'
import { StartError } from '../start-error.ts'
import * as agents from '../subgraphs/agents/demo.ts'
import * as identity from '../subgraphs/identity/setup/demo.ts'
import * as launcher from '../subgraphs/launcher/dashboard/household/demo.ts'
import * as payments from '../subgraphs/payments/demo/demo.ts'
import * as providers from '../subgraphs/providers/demo/removal.ts'
import * as publishing from '../subgraphs/publishing/brand/demo.ts'
import { type Deletion, deletionsBy, type Run } from '../subgraphs/store/removal.ts'

const runOn =
  (sequelize: Sequelize, transaction: Transaction | null = null): Run =>
  <Row extends object>(sql: string, bind: readonly unknown[] = []) =>
    sequelize.query<Row>(sql, { type: QueryTypes.SELECT, bind: [...bind], transaction })

/** Finds demo accounts, and the organizations that only they belong to. */
export const findDemo = (sequelize: Sequelize): Promise<identity.DemoFound> => identity.findDemo(runOn(sequelize))

/**
 * Rejects a start with demo accounts where anyone could sign in by them: in production, and in staging without a
 * requested demo.
 * @returns a notice for development when unrequested demo accounts exist
 * @throws StartError with one line that says how to remove them
 */
export async function checkDemoAccounts(sequelize: Sequelize, { environment, demo }: Pick<Config, 'environment' | 'demo'>): Promise<readonly string[]> {
  if (demo) return []
  const { accounts } = await findDemo(sequelize)
  if (accounts.length === 0) return []
  const sentence = `the database holds demo accounts, whose password everybody knows (${accounts.join(', ')})`
  if (environment === 'development') return [`${sentence}: npm run demo:remove removes them`]
  throw new StartError(`${sentence}, and ENVIRONMENT is ${environment}: remove them with npm run demo:remove, or use another database`)
}

/**
 * Removes the demo in one transaction: its accounts with their sessions, memberships and keys, and the organizations
 * without other members, with all their rows in every subgraph.
 * @returns the removed accounts and organizations
 */
export function removeDemo(sequelize: Sequelize): Promise<identity.DemoFound> {
  return sequelize.transaction(async transaction => {
    const run = runOn(sequelize, transaction)
    const found = await identity.findDemo(run)
    if (found.accounts.length === 0) return found
    const organizations = found.organizations.map(({ id }) => id)
    const parts = await Promise.all([agents, launcher, payments, providers, publishing, identity].map(subgraph => subgraph.demoDeletions(run, organizations)))
    // Every subgraph's rows of the organizations, audit entries included.
    const theirs = await Promise.all([deletionsBy(run, 'organization_id', organizations), deletionsBy(run, 'tenant_id', organizations)])
    await inAnyOrder([...theirs, ...parts].flat(), run)
    return found
  })
}

const foreignKeyViolation = '23503'

/**
 * Runs deletions in an order that foreign keys allow. @throws the database's error when none of the remaining ones
 * succeeds
 */
async function inAnyOrder(deletions: readonly Deletion[], run: Run): Promise<void> {
  const waiting: Deletion[] = []
  let last: unknown
  for (const deletion of deletions) {
    await run('savepoint one_deletion')
    try {
      await run(deletion.sql, deletion.bind)
      await run('release savepoint one_deletion')
    } catch (error) {
      if ((error as { original?: { code?: unknown } }).original?.code !== foreignKeyViolation) throw error
      await run('rollback to savepoint one_deletion')
      waiting.push(deletion)
      last = error
    }
  }
  if (waiting.length === deletions.length) throw last
  if (waiting.length > 0) await inAnyOrder(waiting, run)
}
