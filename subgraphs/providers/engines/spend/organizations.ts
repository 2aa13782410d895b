import { LRUCache } from 'lru-cache'
import type { OrganizationRules } from '../../stores/administration/organization.ts'

/** Time in ms for which settings are cached, and maximum organizations. */
const [keptMs, mostKept] = [1_000, 10_000]

/** Organizations' settings of the gateway, as of at most a second ago. */
export interface OrganizationsInUse {
  of(organizationId: string): Promise<OrganizationRules>
  /** Caches settings that were just read. */
  learn(organizationId: string, rules: OrganizationRules): void
  /** Removes settings from the cache after a change in this process. */
  forget(organizationId: string): void
}

/** @param look reads the record of an organization, creating it where there is none */
export function openOrganizationsInUse(
  look: (organizationId: string) => Promise<OrganizationRules>,
  elapsed: () => number = () => performance.now(),
): OrganizationsInUse {
  const known = new LRUCache<string, { readonly at: number; readonly rules: Promise<OrganizationRules> }>({ max: mostKept })
  return {
    of(organizationId) {
      const remembered = known.get(organizationId)
      if (remembered && elapsed() - remembered.at < keptMs) return remembered.rules
      const entry = { at: elapsed(), rules: look(organizationId) }
      known.set(organizationId, entry)
      entry.rules.catch(() => known.get(organizationId) === entry && known.delete(organizationId))
      return entry.rules
    },
    learn: (organizationId, rules) => void known.set(organizationId, { at: elapsed(), rules: Promise.resolve(rules) }),
    forget: organizationId => void known.delete(organizationId),
  }
}
