import { LRUCache } from 'lru-cache'
import type { OrganizationRules } from '../../stores/administration/organization.ts'

/** For how long it is used again, in ms, and of how many organizations it is remembered. */
const [keptMs, mostKept] = [1_000, 10_000]

/** How organizations use the gateway, as it was within the last second. */
export interface OrganizationsInUse {
  of(organizationId: string): Promise<OrganizationRules>
  /** Somebody has just read how it is. */
  learn(organizationId: string, rules: OrganizationRules): void
  /** Drops what is remembered: a record was changed here. */
  forget(organizationId: string): void
}

/** @param look reads the record of an organization, and makes it where there is none */
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
