import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { Events } from '../../../platform/events.ts'
import { newId } from '../../../platform/ids.ts'
import { record, tell, type Unit } from '../../store/books.ts'
import { inTransaction } from '../../store/write.ts'
import type { Registration } from '../../subgraph.ts'
import type { Job } from '../context.ts'
import type { ServiceEntryRow } from '../stores/service-entry.ts'
import { type Addresses, conflictOf, type EntryContent, entryOf, isRegistered, mistakeIn, registryTopic } from './rules.ts'

/** What became of the registrations, by slug. */
export interface RegistrationOutcome {
  readonly registered: readonly string[]
  readonly conflicts: readonly { readonly slug: string; readonly reason: string }[]
}

/** Where and with what the registry is kept. */
export interface Registry {
  readonly environment: string
  /** Origin of the platform: where who looks after it goes to see to a conflict. */
  readonly publicUrl: string
  readonly events: Events
  readonly log: Logger
}

/**
 * Synchronises the registry with what services say of themselves: repeatable, and entries keep their ids. What is not valid, or
 * would take a place that somebody else holds, is left out, and said: in the log at each start, in the record and to those who look
 * after the platform when it begins. Any number of processes may call it at once.
 * @param addresses by slug, then by role
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

/** Why a service may not be entered, in a sentence; null when it may. */
function reasonAgainst(registration: Registration, addresses: Addresses, present: readonly ServiceEntryRow[]): string | null {
  const { slug, appId } = registration
  return (
    mistakeIn(registration, addresses) ??
    conflictOf(registration, present.find(row => row.slug === slug) ?? null, present.find(row => row.appId === appId) ?? null)
  )
}

/** Writes an entry, and tells others of it. @returns whether anything changed */
async function enter(job: Job, entry: EntryContent, present: readonly ServiceEntryRow[], unit: Unit): Promise<boolean> {
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
  await tell(job, [isRegistered({ ...entry, id: id! })], unit)
  return true
}

interface Found {
  readonly registrations: readonly Registration[]
  /** Why services could not be registered, by slug. */
  readonly reasons: ReadonlyMap<string, string>
  readonly present: readonly ServiceEntryRow[]
}

/** Remembers what could not be registered: who looks after the platform is told once when that begins, or its reason changes, and once when it ends. */
async function noteConflicts(job: Job, { registrations, reasons, present }: Found, { environment, publicUrl }: Registry, unit: Unit): Promise<void> {
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
    await tell(job, [{ kind: 'attention.opened', body }], unit)
  }
  for (const { slug } of over) {
    await serviceEntries.dropConflict(environment, slug, transaction)
    await tell(job, [{ kind: 'attention.closed', body: { key: keyOf(environment, slug) } }], unit)
  }
}

const keyOf = (environment: string, slug: string): string => `service-conflict:${environment}:${slug}`
