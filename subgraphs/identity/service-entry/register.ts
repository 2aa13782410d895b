import type { Logger } from 'pino'
import type { Registration } from '../../subgraph.ts'
import type { Tables } from '../tables.ts'
import { type Addresses, entryOf, mistakeIn } from './rules.ts'
import { synchroniseEntries } from './store.ts'

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
  tables: Tables,
  registrations: readonly Registration[],
  addresses: Readonly<Record<string, Addresses>>,
  { environment, now, log }: { environment: string; now: Date; log: Logger },
): Promise<RegistrationOutcome> {
  const reasons = new Map<string, string>()
  const valid = registrations.filter(registration => {
    const mistake = mistakeIn(registration, addresses[registration.slug] ?? {})
    if (mistake) reasons.set(registration.slug, mistake)
    return !mistake
  })
  const entries = valid.map(registration => entryOf(registration, addresses[registration.slug] ?? {}, environment))
  if (entries.length > 0) for (const [slug, reason] of await synchroniseEntries(tables, entries, now)) reasons.set(slug, reason)
  const conflicts = [...reasons].map(([slug, reason]) => ({ slug, reason }))
  for (const { slug, reason } of conflicts) log.error({ service: slug, reason }, 'a service was not registered')
  return { registered: valid.map(({ slug }) => slug).filter(slug => !reasons.has(slug)), conflicts }
}
