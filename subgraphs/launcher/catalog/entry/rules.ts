import { DomainError } from '../../../../platform/errors.ts'
import type { CatalogEntryRow } from '../../stores/catalog-entry.ts'

/** Whether people can open an app. */
export const isLaunchable = ({ kind, lifecycle }: Pick<CatalogEntryRow, 'kind' | 'lifecycle'>): boolean => kind === 'APPLICATION' && lifecycle !== 'RETIRED'

/** Returns when an app's maintenance is to be over; null when there is none now. */
export const maintainedUntil = ({ maintenanceUntil }: Pick<CatalogEntryRow, 'maintenanceUntil'>, now: Date): Date | null =>
  maintenanceUntil && maintenanceUntil > now ? maintenanceUntil : null

/** Whether an app can be used in a context. Households belong to personal context. */
export const fitsContext = ({ contexts, capabilities }: Pick<CatalogEntryRow, 'contexts' | 'capabilities'>, context: 'personal' | 'organization'): boolean =>
  context === 'organization' ? contexts.includes('ORGANIZATION') : contexts.includes('PERSONAL') || capabilities.includes('HOUSEHOLD_CAPABLE')

/** Path at which the icon of an app is served. */
export const iconPath = (app: string): string => `/launcher/icons/${app}`

/** @throws NOT_FOUND for an app that the active context's catalogue does not have */
export function requireEntry(entry: CatalogEntryRow | null, app: string): CatalogEntryRow {
  if (entry) return entry
  throw new DomainError('NOT_FOUND', `The catalogue of the active context has no app ${app.slice(0, 80)}.`, { app: app.slice(0, 80) })
}
