import { newId } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { identityOf } from '../../../kit/identity.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** A person with an account that nobody can sign in to. */
export async function seedPerson({ database, clock }: Pick<Supergraph, 'database' | 'clock'>, name = 'A person'): Promise<{ id: string; email: string }> {
  const identity = identityOf(database.sequelize, clock)
  const now = clock.now()
  const id = newId(now)
  const row = { id, name, email: `${id}@example.test`, emailVerified: true, createdAt: now, updatedAt: now }
  await inTransaction(identity, ({ transaction }) => identity.users.insert(row, transaction))
  return row
}
