import DataLoader from 'dataloader'
import { QueryTypes, type Sequelize } from 'sequelize'
import { isId } from '../../../platform/ids.ts'
import type { Order, PageRequest } from '../../../platform/page.ts'
import { isMoment } from '../../../platform/page.ts'
import { columnsOf } from '../mapping.ts'
import { type BrandRow, defineBrandTable } from './table.ts'

/** Oldest first: the order in which an organization's brands are listed. */
export const brandOrder: Order<BrandRow> = {
  name: 'brands.oldest',
  position: brand => [brand.createdAt.toISOString(), brand.id],
  parts: [isMoment, isId],
}

/** SQL of brands. */
export function createBrandStore(sequelize: Sequelize) {
  const Brand = defineBrandTable(sequelize)
  const columns = columnsOf(Brand, 'b')
  return {
    /** Writes a brand. */
    async create(brand: Omit<BrandRow, 'version'>): Promise<void> {
      await Brand.create(brand)
    },
    /** The brands with these ids, whoever owns them. */
    byIds(ids: readonly string[]): Promise<BrandRow[]> {
      return sequelize.query<BrandRow>(`select ${columns} from publishing.brands b where b.id = any($1::uuid[])`, { bind: [ids], type: QueryTypes.SELECT })
    },
    /** One page of an organization's brands. */
    page(organizationId: string, request: PageRequest): Promise<BrandRow[]> {
      return sequelize.query<BrandRow>(
        `select ${columns} from publishing.brands b where b.organization_id = $1
           and ($2::timestamptz is null or (b.created_at, b.id) > ($2::timestamptz, $3::uuid))
         order by b.created_at, b.id limit $4`,
        { bind: [organizationId, request.after?.[0] ?? null, request.after?.[1] ?? null, request.limit], type: QueryTypes.SELECT },
      )
    },
    async count(organizationId: string): Promise<number> {
      return Brand.count({ where: { organizationId } })
    },
  }
}

export type BrandStore = ReturnType<typeof createBrandStore>

/** One by key, for one operation. */
export const brandById = (store: BrandStore) =>
  new DataLoader<string, BrandRow | null>(async ids => {
    const found = new Map((await store.byIds(ids)).map(brand => [brand.id, brand]))
    return ids.map(id => found.get(id) ?? null)
  })
