import { DomainError } from '../../../../platform/errors.ts'
import type { Events } from '../../../../platform/events.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import type { CatalogEntryRow } from '../../stores/catalog-entry.ts'
import { needsBundle, type Rights } from '../../stores/commerce/entitlement.ts'
import { type InstallationRow, maxInstalled, type Owner } from '../../stores/installation.ts'
import { fitsContext, isLaunchable } from '../entry/rules.ts'

/** The refusal of an app that the other context alone can use. */
export const otherContext = (app: string, context: string): DomainError =>
  new DomainError('CONFLICT', `${app} cannot be used in ${context} context: switch to the other one.`, { reason: 'CONTEXT' })

/**
 * Checks that an app may be installed in a context.
 * @param rights what its owner may use, read under lock; null: the limit is not checked
 * @throws CONFLICT, reason NOT_LAUNCHABLE, CONTEXT, NOT_ENTITLED (with `limit` and `used`) or LIMIT
 */
export function requireInstallable(
  entry: Pick<CatalogEntryRow, 'app' | 'kind' | 'origin' | 'lifecycle' | 'contexts' | 'capabilities'>,
  context: 'personal' | 'organization',
  count: number,
  rights: Pick<Rights, 'limit' | 'apps'> | null,
): void {
  const conflict = (reason: string, message: string) => new DomainError('CONFLICT', message, { reason })
  if (!isLaunchable(entry)) throw conflict('NOT_LAUNCHABLE', `${entry.app} is not opened by people: there is nothing to install.`)
  if (!fitsContext(entry, context)) throw otherContext(entry.app, context)
  if (needsBundle(entry) && rights && rights.limit !== null && rights.apps.length >= rights.limit)
    throw new DomainError('CONFLICT', `The plan opens ${rights.limit} apps of the platform, and ${rights.apps.length} are installed: choose a larger one.`, {
      ...{ reason: 'NOT_ENTITLED', limit: rights.limit, used: rights.apps.length },
    })
  if (count >= maxInstalled) throw conflict('LIMIT', `${maxInstalled} apps are installed already: remove one first.`)
}

/** Returns the fact of an installation's begin or end; none outside of an organization or a person. */
export const factOf = (kind: 'app.installed' | 'app.uninstalled', { app, organizationId }: InstallationRow, userId: string | null): NewFact[] =>
  userId === null ? [] : [{ kind, body: { app, organizationId, userId } }]

const topics = 'launcher.installations.'

/** Returns the topic of an owner's installations. */
export const topicOf = ({ organizationId, userId }: Owner): string => `${topics}${organizationId ? `organization.${organizationId}` : `person.${userId}`}`

/** Publishes, after the commit, that an installation began or ended. */
export const announceInstallation = (events: Events, row: InstallationRow): void => events.announce(topicOf(row), { id: row.id, app: row.app }, row.version)

/** Registers the resync of installations with listeners, because events may be lost between processes. */
export const resyncInstallations = (
  events: Events,
  changedSince: (owner: Owner, since: Date) => Promise<readonly Pick<InstallationRow, 'id' | 'version'>[]>,
): void =>
  events.resync(topics, async (rest, since) => {
    const [kind, id] = rest.split('.') as ['organization' | 'person', string]
    const owner = kind === 'organization' ? { organizationId: id, userId: null } : { organizationId: null, userId: id }
    return (await changedSince(owner, since)).map(({ id, version }) => ({ ids: { id }, mark: version }))
  })
