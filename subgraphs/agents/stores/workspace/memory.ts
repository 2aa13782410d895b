import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

export const memories = table('agents.memories', {
  id: uuid.key,
  organizationId: uuid,
  key: text,
  text,
  updatedById: uuid.maybe,
  ...stamps,
})

export type MemoryRow = Row<typeof memories>

const withKey = statement(`select ${selectList(memories, 't')} from agents.memories t where t.organization_id = $1 and t.key = $2 for no key update`)
const count = statement('select count(*)::int as memories from agents.memories where organization_id = $1')

const memorySql = (rows: Rows<typeof memories>) => ({
  /** The memory of an organization with a key, under lock; null before it is first saved. */
  async withKey(organizationId: string, key: string, transaction: Transaction): Promise<MemoryRow | null> {
    const [found] = await rows.read(withKey, [organizationId, key], transaction)
    return found ?? null
  },

  /** How many memories an organization has. */
  async count(organizationId: string, transaction: Transaction): Promise<number> {
    const [found] = await rows.read<{ memories: number }>(count, [organizationId], transaction)
    return found!.memories
  },
})

export const memoryStore = store(
  memories,
  { what: 'memory', tenancy: { by: 'organizationId' }, lists: { ofOrganization: { below: 'organizationId', order: 'newest first' } } },
  memorySql,
)
