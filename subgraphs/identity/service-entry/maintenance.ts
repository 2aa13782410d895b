import { DomainError } from '../../../platform/errors.ts'
import { requireId, requireName } from '../../../platform/ids.ts'
import { write } from '../../store/write.ts'
import { activeOrganization } from '../../viewer.ts'
import type { Context } from '../context.ts'
import type { SetServiceMaintenanceInput } from '../resolvers.generated.ts'
import type { ServiceEntryRow } from '../stores/service-entry.ts'
import { isRegistered, registryTopic } from './rules.ts'

/** End and message of a service's maintenance. */
export interface Maintenance {
  readonly until: Date
  readonly message: string | null
}

type Kept = Pick<ServiceEntryRow, 'maintenanceUntil' | 'maintenanceMessage'>

/** Maximum characters of a message, and maximum days until the end. */
const [maxMessage, maxDays] = [500, 90]
const dayMs = 86_400_000

/** Returns the maintenance of a service at a moment; null for none, and after its end. */
export function maintenanceOf({ maintenanceUntil: until, maintenanceMessage: message }: Kept, now: Date): Maintenance | null {
  return until && until > now ? { until, message } : null
}

/**
 * Reads a maintenance.
 * @throws BAD_USER_INPUT for an end in the past, or too far ahead, and for a message that is too long
 */
export function readMaintenance(until: Date | null, message: string | null | undefined, now: Date): Kept {
  if (until === null) return { maintenanceUntil: null, maintenanceMessage: null }
  const ms = until.getTime() - now.getTime()
  if (ms <= 0) throw new DomainError('BAD_USER_INPUT', 'until has passed: name a later moment, or null to end the maintenance now.', { field: 'until' })
  if (ms > maxDays * dayMs) throw new DomainError('BAD_USER_INPUT', `until lies more than ${maxDays} days ahead: name a nearer moment.`, { field: 'until' })
  return { maintenanceUntil: until, maintenanceMessage: message?.trim() ? requireName(message, 'message', maxMessage) : null }
}

/** Sets, changes or ends the maintenance of a service; an equal one changes nothing. */
export async function setMaintenance(context: Context, { serviceId, until, message }: SetServiceMaintenanceInput): Promise<ServiceEntryRow> {
  const { serviceEntries, environment, events, viewer } = context
  const id = requireId(serviceId, 'serviceId')
  const platform = activeOrganization(viewer, 'Maintenance')
  const { entry } = await write(context, {
    async run({ transaction, now }) {
      const before = await serviceEntries.lock(id, transaction)
      if (!before || before.environment !== environment)
        throw new DomainError('NOT_FOUND', `There is no service ${id} in this environment.`, { field: 'serviceId' })
      const wanted = readMaintenance(until ?? null, message, now)
      const stands = maintenanceOf(before, now)
      const isNews = wanted.maintenanceUntil?.getTime() !== stands?.until.getTime() || wanted.maintenanceMessage !== (stands?.message ?? null)
      if (!isNews) return { entry: before, isNews }
      return { entry: await serviceEntries.update(before, { ...wanted, version: before.version + 1, updatedAt: now }, transaction), isNews }
    },
    audit({ entry: { slug, maintenanceUntil: ends }, isNews }) {
      if (!isNews) return null
      const action = ends ? 'service.maintenance_set' : 'service.maintenance_ended'
      return { tenantId: platform, action, subjectId: id, details: { service: slug, ...(ends && { until: ends.toISOString() }) } }
    },
    facts: ({ entry, isNews }) => (isNews ? [isRegistered(entry)] : []),
    announce: ({ entry: { slug }, isNews }) => (isNews ? events.announce(registryTopic, { service: slug }) : undefined),
  })
  return entry
}
