import { type CreationAttributes, QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { isId } from '../../../platform/ids.ts'
import type { Made } from '../../../platform/limit.ts'
import { isMoment, type Order } from '../../../platform/page.ts'
import { listBelow } from '../../list.ts'
import { createListLoader, createLoader, type Reading } from '../../loader.ts'
import { columnsOf } from '../mapping.ts'
import { requireInUse } from './rules.ts'
import { type BrandRow, type BrandTable, defineBrandTable } from './table.ts'

/** Oldest first: the order in which an organization's brands are listed. */
export const brandOrder: Order<BrandRow> = {
  name: 'brands.oldest',
  position: brand => [brand.createdAt.toISOString(), brand.id],
  parts: [isMoment, isId],
}

/** What a new brand has not got. */
const nothingYet = { description: null, archivedAt: null, idempotencyKey: null, idempotencyHash: null } as const

/** SQL of brands. */
export function createBrandStore(sequelize: Sequelize) {
  const Brand = defineBrandTable(sequelize)
  const columns = columnsOf(Brand, 'b')
  return {
    /** Writes a brand. */
    async create(brand: CreationAttributes<InstanceType<BrandTable>>, transaction?: Transaction): Promise<BrandRow> {
      const row = await Brand.create(brand, { ...(transaction && { transaction }) })
      return { ...nothingYet, ...row.get({ plain: true }) }
    },

    /** What an organization has. Nobody makes another brand for it before the transaction ends. */
    async madeFor(organizationId: string, transaction: Transaction): Promise<Made> {
      await sequelize.query('select pg_advisory_xact_lock(hashtextextended($1, 3))', { bind: [organizationId], transaction })
      return { standing: await Brand.count({ where: { organizationId }, transaction }), today: 0, todaySince: null }
    },

    /** The brand that the same caller made for the organization under the same key. */
    findRepeated: (organizationId: string, createdBy: string, idempotencyKey: string, transaction: Transaction): Promise<BrandRow | null> =>
      Brand.findOne({ where: { organizationId, createdBy, idempotencyKey }, raw: true, transaction }),

    /** Locks one row until the transaction ends, against every other change of it and against posts that are being written. */
    async lock(id: string, transaction: Transaction): Promise<BrandRow | null> {
      const rows = await sequelize.query<BrandRow>(`select ${columns} from publishing.brands b where b.id = $1 for no key update`, {
        bind: [id],
        type: QueryTypes.SELECT,
        transaction,
      })
      return rows[0] ?? null
    },

    /**
     * Sees to it that a brand stays in use until the transaction ends: for whatever writes something of it.
     * @throws CONFLICT, reason BRAND_ARCHIVED
     */
    async requireInUse(id: string, transaction: Transaction): Promise<void> {
      const [row] = await sequelize.query<{ archivedAt: Date | null }>('select archived_at as "archivedAt" from publishing.brands where id = $1 for share', {
        bind: [id],
        type: QueryTypes.SELECT,
        transaction,
      })
      if (row) requireInUse(row)
    },

    /** How many posts wait for their time, or are being sent. */
    async scheduled(id: string, transaction: Transaction): Promise<number> {
      const [row] = await sequelize.query<{ count: number }>(
        `select count(*)::int as count from publishing.posts where brand_id = $1 and (status = 'SCHEDULED' or delivery_phase = 'SENDING')`,
        { bind: [id], type: QueryTypes.SELECT, transaction },
      )
      return row?.count ?? 0
    },

    /** Writes what changed in a locked row and hands back the whole. */
    async update(brand: BrandRow, changes: Partial<BrandRow>, transaction: Transaction): Promise<BrandRow> {
      await Brand.update(changes, { where: { id: brand.id }, transaction })
      return { ...brand, ...changes }
    },

    /** The brands with these ids, whoever owns them. */
    byIds(ids: readonly string[]): Promise<BrandRow[]> {
      return sequelize.query<BrandRow>(`select ${columns} from publishing.brands b where b.id = any($1::uuid[])`, { bind: [ids], type: QueryTypes.SELECT })
    },
    /** The brands below organizations: all, those in use, and those that are archived. */
    lists: {
      all: listBelow<BrandRow>(Brand, 'organizationId', 'oldest first'),
      inUse: listBelow<BrandRow>(Brand, 'organizationId', 'oldest first', 't.archived_at is null'),
      archived: listBelow<BrandRow>(Brand, 'organizationId', 'oldest first', 't.archived_at is not null'),
    },
  }
}

export type BrandStore = ReturnType<typeof createBrandStore>

/** One by key, for one operation. */
export const brandById = (store: BrandStore, reading: Reading) =>
  createLoader<string, BrandRow | null>(reading, async ids => {
    const found = new Map((await store.byIds(ids)).map(brand => [brand.id, brand]))
    return ids.map(id => found.get(id) ?? null)
  })

/** The lists of brands below organizations, for one operation. */
export const brandLists = ({ lists }: BrandStore, reading: Reading) => ({
  all: createListLoader(reading, brandOrder, lists.all),
  inUse: createListLoader(reading, brandOrder, lists.inUse),
  archived: createListLoader(reading, brandOrder, lists.archived),
})
