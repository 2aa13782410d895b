import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import { createLoader } from '../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../store/store.ts'
import type { Tenant } from '../../store/tenancy.ts'

export const installations = table('launcher.installations', {
  id: uuid.key,
  app: text,
  /** The organization that uses the app; null in personal context. */
  organizationId: uuid.maybe,
  /** The person who uses the app in personal context; null in an organization. */
  userId: uuid.maybe,
  /** The person who installed it; null for a key or a service. */
  installedBy: uuid.maybe,
  installedAt: moment,
  removedAt: moment.maybe,
  ...stamps,
})

export type InstallationRow = Row<typeof installations>

/** Where apps are installed: an organization, or a person in personal context. */
export type Owner = Pick<InstallationRow, 'organizationId' | 'userId'>

/** Returns the owner of installations in a viewer's active context; null for an anonymous viewer. */
export function ownerOf({ organizationId, userId }: Pick<Tenant, 'organizationId' | 'userId'>): Owner | null {
  if (organizationId) return { organizationId, userId: null }
  return userId ? { organizationId: null, userId } : null
}

/** Maximum number of apps of one owner: a plain list shows all of them. */
export const maxInstalled = 500

/** One installation or removal at a time for an owner and an app. */
const lockApp = transactionLock('launcher.installation', 2)
const ofOwner = 't.organization_id is not distinct from $1::uuid and t.user_id is not distinct from $2::uuid'
const standing = statement(
  `select ${selectList(installations, 't')} from launcher.installations t where ${ofOwner} and t.removed_at is null order by t.app limit ${maxInstalled}`,
)
const one = statement(`select ${selectList(installations, 't')} from launcher.installations t where ${ofOwner} and t.app = $3 and t.removed_at is null`)
const count = statement(`select count(*)::int as count from launcher.installations t where ${ofOwner} and t.removed_at is null`)
const changed = statement(`select t.id, t.version from launcher.installations t where ${ofOwner} and t.updated_at >= $3 order by t.updated_at desc limit 200`)

const ownSql = (rows: Rows<typeof installations>, { reading, viewer }: StoreContext) => {
  const readAll = async (owner: Owner | null): Promise<ReadonlyMap<string, InstallationRow>> => {
    const found = owner ? await rows.read(standing, [owner.organizationId, owner.userId]) : []
    return new Map(found.map(row => [row.app, row]))
  }
  const all = createLoader<'all', ReadonlyMap<string, InstallationRow>>(reading, async () => [await readAll(viewer && ownerOf(viewer))])
  return {
    /** Returns what is installed in the viewer's active context, by app in the order of slugs. */
    standing: () => all.load('all'),
    /** Returns what an owner has installed. */
    standingOf: readAll,
    /** Forgets what `standing` read, after a change. */
    forget: () => void all.clear('all'),

    /** Returns an owner's installation of an app, and keeps everybody else from changing it; null when it is not installed. */
    async lockOf({ organizationId, userId }: Owner, app: string, transaction: Transaction): Promise<InstallationRow | null> {
      await rows.read(lockApp, [organizationId ?? userId, app], transaction)
      return (await rows.read(one, [organizationId, userId, app], transaction))[0] ?? null
    },

    async countOf({ organizationId, userId }: Owner, transaction: Transaction): Promise<number> {
      return (await rows.read<{ count: number }>(count, [organizationId, userId], transaction))[0]!.count
    },

    /** Returns installations of an owner that changed since a moment, the latest first; a few hundred at most. */
    changedSince: ({ organizationId, userId }: Owner, since: Date) => rows.read<{ id: string; version: number }>(changed, [organizationId, userId, since]),
  }
}

/** Condition for installations of the viewer's active context. */
const seen = `case when :organization::uuid is null then t.user_id = :person else t.organization_id = :organization end`

export const installationStore = store(installations, { what: 'installation', tenancy: { where: seen } }, ownSql)
