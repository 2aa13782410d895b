import type { Sequelize } from 'sequelize'
import type { Clock } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { type OrganizationRules, statusWithin } from '../../stores/administration/organization.ts'
import { type Calls, inWords, type Said } from './order.ts'
import type { OrganizationsInUse } from './organizations.ts'

const dayMs = 24 * 3_600_000
/** Maximum stored characters of an unredacted prompt. */
export const longestPrompt = 100_000
/** Maximum stored characters of a redacted prompt. */
const longestRedacted = 2_000

/** The placeholder for redacted text. */
const gap = '[…]'

/** Patterns of personal data and secrets: addresses of mail and pages, keys, long numbers. */
const telling = [
  /[^\s@<>"']+@[^\s@<>"']+\.[^\s@<>"']+/gu,
  /\bhttps?:\/\/\S+/giu,
  /\b(?:Bearer|Basic)\s+[\w~+/.=-]{8,}/giu,
  /\b(?:sk|pk|rk|sgk|sgs|sgo|whsec|ghp|xox\w)[-_][\w-]{6,}/giu,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/gu,
  /(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[\w+/=-]{24,}/gu,
  /\+?\d(?:[ ().\-/]{0,2}\d){5,}/gu,
] as const

/** Redacts the first characters of a text: without addresses, secrets and long numbers. */
export function redacted(words: string): string {
  // Scans more text than is stored: redaction shortens it, and a secret must not be cut in two.
  const left = telling.reduce((text, each) => text.replace(each, gap), words.slice(0, 2 * longestRedacted))
  return left.slice(0, longestRedacted)
}

/** The stored prompt and its expiry. */
function keptPrompt({ promptStorage, retentionDays }: OrganizationRules, said: Said, now: Date) {
  const prompt = promptStorage === 'OFF' ? null : inWords(said)
  if (prompt === null) return { prompt: null, promptUntil: null }
  const words = promptStorage === 'REDACTED' ? redacted(prompt) : prompt.slice(0, longestPrompt)
  // PostgreSQL accepts neither NUL characters nor unpaired surrogates.
  return { prompt: words.replaceAll('\0', '').toWellFormed(), promptUntil: new Date(now.getTime() + retentionDays * dayMs) }
}

/** Applies the organization's settings to calls: whether it may call, and what is stored of its prompts. */
export const withPromptPolicy = (calls: Calls, organizations: Pick<OrganizationsInUse, 'of'>, clock: Clock, sequelize: Sequelize): Calls => {
  const requireActive = (status: OrganizationRules['status']): void => {
    if (status === 'ACTIVE') return
    throw new DomainError('FORBIDDEN', 'The organization is suspended at the gateway: no calls are made for it. Ask the operator.', {
      reason: 'SUSPENDED',
    })
  }
  return {
    priceOf: calls.priceOf,
    async begin(caller, order) {
      const rules = await organizations.of(caller.organizationId)
      requireActive(rules.status)
      return calls.begin(caller, { ...order, ...keptPrompt(rules, order.prompt, clock.now()) })
    },
    async charge(caller, charge, unit) {
      // Read within the transaction: a transaction that waits for a second connection could deadlock with others.
      requireActive(await statusWithin(sequelize, caller.organizationId, unit.transaction))
      return calls.charge(caller, charge, unit)
    },
  }
}
