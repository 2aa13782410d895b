import type { Events } from '../../../../platform/events.ts'
import { readIdempotency } from '../../../../platform/idempotency.ts'
import { newId } from '../../../../platform/ids.ts'
import { type AuditLine, findMade, record, type WriteTransaction, type Writing, writeFacts, writing } from '../../../store/books.ts'
import type { Rows } from '../../../store/store.ts'
import { type Posting, postNotice } from '../../engines/notify/notify.ts'
import { installedNotice } from '../../notification/rules.ts'
import type { CatalogEntryRow } from '../../stores/catalog-entry.ts'
import type { EntitlementStore } from '../../stores/commerce/entitlement.ts'
import { needsBundle, type Rights } from '../../stores/commerce/entitlement.ts'
import type { InstallationRow, installations, Owner } from '../../stores/installation.ts'
import { announceInstallation, factOf, requireInstallable } from './rules.ts'

/** What installing works with: the context of a viewer, or of a job. */
export type Installing = Writing &
  Posting & {
    readonly publicUrl: string
    readonly events: Events
    readonly entitlements: Pick<EntitlementStore, 'lockOwner' | 'rightsOf'>
    readonly installations: Rows<typeof installations, never, never> & {
      lockOf(owner: Owner, app: string, transaction: WriteTransaction['transaction']): Promise<InstallationRow | null>
      countOf(owner: Owner, transaction: WriteTransaction['transaction']): Promise<number>
    }
  }

/** Who installs, and for whom. */
export interface Installer {
  readonly owner: Owner
  /** The person; null for a key or a service. */
  readonly userId: string | null
  /** As audit entries name the caller. */
  readonly actor: string
  /** The input: its `idempotencyKey` identifies repetitions. @default none */
  readonly once?: { readonly idempotencyKey?: string | null | undefined }
}

/** An installation that was made now, or stood already. */
export interface Installed {
  readonly row: InstallationRow
  readonly isNew: boolean
  /** Has people told of it; undefined for one that stood already. */
  readonly deliver?: (() => void) | undefined
}

/**
 * Installs an app within a transaction, judged under the lock of owner and app.
 * @throws as `requireInstallable` does; CONFLICT, reason KEY_REUSED
 */
export async function install(
  context: Installing,
  entry: CatalogEntryRow,
  { owner, userId, actor, once = {} }: Installer,
  unit: WriteTransaction,
): Promise<Installed> {
  const { installations } = context
  const { transaction, now } = unit
  const present = await installations.lockOf(owner, entry.app, transaction)
  const id = present?.id ?? newId(now)
  const idempotency = readIdempotency(once)
  const earlier =
    idempotency && (await findMade(context[writing], installations, { tenantId: owner.organizationId ?? owner.userId!, id, ...idempotency }, unit))
  if (earlier ?? present) return { row: (earlier ?? present)!, isNew: false }
  requireInstallable(
    entry,
    owner.organizationId ? 'organization' : 'personal',
    await installations.countOf(owner, transaction),
    await rightsUnderLock(context, entry, owner, unit),
  )
  const stamps = { installedAt: now, createdAt: now, updatedAt: now, createdBy: actor }
  const row = await installations.insert({ id, app: entry.app, ...owner, installedBy: userId, ...stamps }, transaction)
  await record(context, lineOf('app.installed', row), unit)
  await writeFacts(context, factOf('app.installed', row, userId), unit)
  const deliver = await postNotice(context, installedNotice(row, entry, context.publicUrl), unit)
  return { row, isNew: true, deliver }
}

/** Reads what an owner may use, which nothing changes until the transaction ends; null for an app that needs no bundle. */
async function rightsUnderLock({ entitlements }: Installing, entry: CatalogEntryRow, owner: Owner, { transaction }: WriteTransaction): Promise<Rights | null> {
  if (!needsBundle(entry)) return null
  await entitlements.lockOwner(owner, transaction)
  return entitlements.rightsOf(owner, transaction)
}

/** The audit entry of an installation's begin or end. */
export const lineOf = (action: 'app.installed' | 'app.uninstalled', { id, app, organizationId, userId }: InstallationRow): AuditLine => ({
  tenantId: organizationId ?? userId!,
  action,
  subjectId: id,
  details: { app },
})

/** Publishes an installation that was made. */
export const announceInstalled = ({ events }: Pick<Installing, 'events'>, { row, isNew, deliver }: Installed): void => {
  if (isNew) announceInstallation(events, row)
  deliver?.()
}
