import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { Events } from '../../../platform/events.ts'
import { newId } from '../../../platform/ids.ts'
import { record, type WriteTransaction, writeFacts } from '../../store/books.ts'
import { inTransaction } from '../../store/write.ts'
import type { Registration } from '../../subgraph.ts'
import type { Job } from '../context.ts'
import type { ServiceEntryRow } from '../stores/service-entry.ts'
import { type Addresses, conflictOf, type EntryContent, entryOf, isRegistered, mistakeIn, registryTopic } from './rules.ts'

/** Result of the registrations, by slug. */
export interface RegistrationOutcome {
  readonly registered: readonly string[]
  readonly conflicts: readonly { readonly slug: string; readonly reason: string }[]
}

/** Where the registry is stored. */
export interface Registry {
  readonly environment: string
  /** Origin of the platform: where administrators resolve a conflict. */
  readonly publicUrl: string
  readonly events: Events
  readonly log: Logger
}

/**
 * Synchronizes the registry with the services' registrations: repeatable, and entries keep their ids. An invalid
 * registration, or one that conflicts with an existing entry, is left out and reported: in the log at each start, in
 * the audit log and to administrators when it begins. Any number of processes may run it at once.
 * @param addresses by slug, then by audience
 */
export async function registerServices(
  job: Job,
  registrations: readonly Registration[],
  addresses: Readonly<Record<string, Addresses>>,
  registry: Registry,
): Promise<RegistrationOutcome> {
  const { environment, events, log } = registry
  const { reasons, changed } = await inTransaction(job, async unit => {
    const present = await job.serviceEntries.lockAll(environment, unit.transaction)
    const reasons = new Map<string, string>()
    const changed: string[] = []
    for (const registration of registrations) {
      const { slug } = registration
      const reason = reasonAgainst(registration, addresses[slug] ?? {}, present)
      if (reason !== null) reasons.set(slug, reason)
      else if (await enter(job, entryOf(registration, addresses[slug] ?? {}, environment), present, unit)) changed.push(slug)
    }
    await noteConflicts(job, { registrations, reasons, present }, registry, unit)
    return { reasons, changed }
  })
  for (const slug of changed) events.announce(registryTopic, { service: slug })
  const conflicts = [...reasons].map(([slug, reason]) => ({ slug, reason }))
  for (const { slug, reason } of conflicts) log.error({ service: slug, reason }, 'service not registered')
  return { registered: registrations.map(({ slug }) => slug).filter(slug => !reasons.has(slug)), conflicts }
}

/** Returns why a service must not be registered, in a sentence; null when it may. */
function reasonAgainst(registration: Registration, addresses: Addresses, present: readonly ServiceEntryRow[]): string | null {
  const { slug, appId } = registration
  return (
    mistakeIn(registration, addresses) ??
    conflictOf(registration, present.find(row => row.slug === slug) ?? null, present.find(row => row.appId === appId) ?? null)
  )
}

/** Writes an entry, and publishes it as a fact. @returns whether anything changed */
async function enter(job: Job, entry: EntryContent, present: readonly ServiceEntryRow[], unit: WriteTransaction): Promise<boolean> {
  const { transaction, now } = unit
  const before = present.find(row => row.slug === entry.slug)
  let id = before?.id
  if (before) {
    // People set maintenance; a service's registration does not change it.
    const { id: _, version, createdAt, updatedAt, maintenanceUntil, maintenanceMessage, ...content } = before
    if (isDeepStrictEqual(content, entry)) return false
    await job.serviceEntries.update(before, { ...entry, version: version + 1, updatedAt: now }, transaction)
  } else {
    id = newId(now)
    await job.serviceEntries.insert({ ...entry, id, createdAt: now, updatedAt: now }, transaction)
  }
  await writeFacts(job, [isRegistered({ ...entry, id: id! })], unit)
  return true
}

interface Found {
  readonly registrations: readonly Registration[]
  /** Reasons why services could not be registered, by slug. */
  readonly reasons: ReadonlyMap<string, string>
  readonly present: readonly ServiceEntryRow[]
}

/**
 * Records failed registrations: administrators are notified once when one begins or its reason changes, and once when
 * it ends.
 */
async function noteConflicts(
  job: Job,
  { registrations, reasons, present }: Found,
  { environment, publicUrl }: Registry,
  unit: WriteTransaction,
): Promise<void> {
  const { transaction, now } = unit
  const { serviceEntries } = job
  const before = await serviceEntries.conflicts(environment, transaction)
  const begun = [...reasons].filter(([slug, reason]) => before.get(slug) !== reason)
  const over = registrations.filter(({ slug }) => before.has(slug) && !reasons.has(slug))
  if (begun.length + over.length === 0) return
  const admins = await serviceEntries.adminOrganization(transaction)
  for (const [slug, reason] of begun) {
    await serviceEntries.keepConflict(environment, slug, reason, now, transaction)
    // Before there is a platform admin, only the log reports it.
    if (admins === null) continue
    const holder = present.find(row => row.slug === slug || row.appId === `app_${slug}`)?.id
    await record(job, { tenantId: admins, action: 'service.conflict', subjectId: holder ?? admins, details: { service: slug, environment, reason } }, unit)
    const told = { organizationId: admins, subjectId: slug, audience: 'managers', at: now.toISOString(), url: publicUrl } as const
    const body = { ...told, key: keyOf(environment, slug), kind: 'SERVICE_CONFLICT', title: `The service ${slug} was not registered`, body: reason }
    await writeFacts(job, [{ kind: 'attention.opened', body }], unit)
  }
  for (const { slug } of over) {
    await serviceEntries.dropConflict(environment, slug, transaction)
    await writeFacts(job, [{ kind: 'attention.closed', body: { key: keyOf(environment, slug) } }], unit)
  }
}

const keyOf = (environment: string, slug: string): string => `service-conflict:${environment}:${slug}`
