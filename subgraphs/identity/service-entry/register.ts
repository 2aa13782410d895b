import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { newId } from '../../../platform/ids.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { selectList } from '../../../platform/sql/table.ts'
import type { Unit } from '../../store/books.ts'
import { inTransaction } from '../../store/write.ts'
import type { Registration } from '../../subgraph.ts'
import type { Job } from '../context.ts'
import { type ServiceEntryRow, serviceEntries } from '../stores/service-entry.ts'
import { type Addresses, conflictOf, type EntryContent, entryOf, mistakeIn } from './rules.ts'

/** What became of the registrations, by slug. */
export interface RegistrationOutcome {
  readonly registered: readonly string[]
  readonly conflicts: readonly { readonly slug: string; readonly reason: string }[]
}

/**
 * Synchronises the registry with what services say of themselves: repeatable, and entries keep their ids. What is not valid, or
 * would take a place that somebody else holds, is left out, reported, and logged.
 * @param addresses by slug, then by role
 */
export async function registerServices(
  job: Job,
  registrations: readonly Registration[],
  addresses: Readonly<Record<string, Addresses>>,
  { environment, log }: { environment: string; log: Logger },
): Promise<RegistrationOutcome> {
  const reasons = new Map<string, string>()
  const valid = registrations.filter(registration => {
    const mistake = mistakeIn(registration, addresses[registration.slug] ?? {})
    if (mistake) reasons.set(registration.slug, mistake)
    return !mistake
  })
  const entries = valid.map(registration => entryOf(registration, addresses[registration.slug] ?? {}, environment))
  if (entries.length > 0) for (const [slug, reason] of await synchroniseEntries(job, entries, environment)) reasons.set(slug, reason)
  const conflicts = [...reasons].map(([slug, reason]) => ({ slug, reason }))
  for (const { slug, reason } of conflicts) log.error({ service: slug, reason }, 'a service was not registered')
  return { registered: valid.map(({ slug }) => slug).filter(slug => !reasons.has(slug)), conflicts }
}

/** Serialises those who synchronise the registry; any number that nothing else in this database locks. */
const registryLock = 7_301_442
const lockRegistry = statement('select pg_advisory_xact_lock($1::bigint)')
const findAll = statement(`select ${selectList(serviceEntries, 't')} from identity.service_entries t where t.environment = $1`)

/**
 * Brings the registry up to the given entries: adds new ones, updates what differs, leaves alone what belongs to others.
 * Any number of processes may call it at once.
 * @returns why entries were left out, by slug
 */
const synchroniseEntries = (job: Job, entries: readonly EntryContent[], environment: string): Promise<Map<string, string>> =>
  inTransaction(job, async unit => {
    await job.serviceEntries.read(lockRegistry, [registryLock], unit.transaction)
    const present = await job.serviceEntries.read(findAll, [environment], unit.transaction)
    const conflicts = new Map<string, string>()
    for (const entry of entries) {
      const bySlug = present.find(row => row.slug === entry.slug) ?? null
      const byAppId = present.find(row => row.appId === entry.appId) ?? null
      const conflict = conflictOf(entry, bySlug, byAppId)
      if (conflict) conflicts.set(entry.slug, conflict)
      else await enter(job, entry, bySlug, unit)
    }
    return conflicts
  })

async function enter({ serviceEntries }: Job, entry: EntryContent, present: ServiceEntryRow | null, { transaction, now }: Unit): Promise<void> {
  if (!present) {
    await serviceEntries.insert({ ...entry, id: newId(now), createdAt: now, updatedAt: now }, transaction)
    return
  }
  const { id, version, createdAt, updatedAt, ...content } = present
  if (isDeepStrictEqual(content, entry)) return
  await serviceEntries.update(present, { ...entry, version: version + 1, updatedAt: now }, transaction)
}
