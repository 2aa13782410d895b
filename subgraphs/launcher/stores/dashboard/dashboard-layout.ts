import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { json, type Row, selectList, stamps, table, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** The place of an app's widget on a board. */
export interface LayoutItem {
  readonly app: string
  readonly order: number
  readonly size: 'SMALL' | 'MEDIUM' | 'LARGE'
  readonly hidden: boolean
}

/** A named board beside the first, unnamed one. */
export interface Board {
  readonly id: string
  readonly name: string
  readonly items: readonly LayoutItem[]
}

export const dashboardLayouts = table('launcher.dashboard_layouts', {
  id: uuid.key,
  organizationId: uuid.maybe,
  /** The person whose layout it is; null for what an organization begins with. */
  userId: uuid.maybe,
  items: json,
  boards: json,
  ...stamps,
})

export type LayoutRow = Omit<Row<typeof dashboardLayouts>, 'items' | 'boards'> & {
  readonly items: readonly LayoutItem[]
  readonly boards: readonly Board[]
}

/** Whose layout it is: a person's in a context, or an organization's. */
export type LayoutOwner = Pick<LayoutRow, 'organizationId' | 'userId'>

const lockOwner = transactionLock('launcher.layout', 2)
const select = `select ${selectList(dashboardLayouts, 't')} from launcher.dashboard_layouts t where t.organization_id is not distinct from $1::uuid`
const ofOwner = statement(`${select} and t.user_id is not distinct from $2::uuid`)
const either = statement(`${select} and (t.user_id = $2 or t.user_id is null) order by t.user_id nulls last limit 1`)

const ownSql = (rows: Rows<typeof dashboardLayouts>) => ({
  /** Returns the layout of an owner, and keeps everybody else from changing it; null while there is none. */
  async lockOf({ organizationId, userId }: LayoutOwner, transaction: Transaction): Promise<LayoutRow | null> {
    await rows.read(lockOwner, [organizationId ?? '', userId ?? ''], transaction)
    return ((await rows.read(ofOwner, [organizationId, userId], transaction))[0] as LayoutRow | undefined) ?? null
  },

  /** Returns what a person's dashboard looks like: their own layout, else that of the organization; null while there is neither. */
  async shownTo({ organizationId, userId }: LayoutOwner): Promise<LayoutRow | null> {
    return ((await rows.read(either, [organizationId, userId]))[0] as LayoutRow | undefined) ?? null
  },

  async of({ organizationId, userId }: LayoutOwner): Promise<LayoutRow | null> {
    return ((await rows.read(ofOwner, [organizationId, userId]))[0] as LayoutRow | undefined) ?? null
  },
})

export const dashboardLayoutStore = store(
  dashboardLayouts,
  {
    what: 'layout',
    tenancy: {
      where: 't.organization_id is not distinct from :organization::uuid and (t.user_id = :person or t.user_id is null and :organization::uuid is not null)',
    },
  },
  ownSql,
)
