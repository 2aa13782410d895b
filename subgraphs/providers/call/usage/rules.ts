import { DomainError } from '../../../../platform/errors.ts'
import { slugs } from '../../../scopes.ts'
import { type UsageFound, type UsageKey, usageKeys } from '../../stores/call.ts'

const dayMs = 24 * 3_600_000
/** Default and maximum days of a usage sum: calls are stored no longer. */
export const days = { usual: 30, most: 400 } as const

/** Reads the grouping of rows, sorted without duplicates, so that equal requests are equal. @throws BAD_USER_INPUT */
export function readGroups(given: readonly UsageKey[]): readonly UsageKey[] {
  if (given.length === 0) throw new DomainError('BAD_USER_INPUT', 'groupBy is empty: say what rows are told apart by.', { field: 'groupBy' })
  return (Object.keys(usageKeys) as UsageKey[]).filter(key => given.includes(key))
}

/** Returns the start of a usage sum. @throws BAD_USER_INPUT for a time before the oldest calls */
export function readSince(given: Date | null | undefined, now: Date): Date {
  if (!given) return new Date(now.getTime() - days.usual * dayMs)
  // One day more, for callers that ask for midnight of the first day.
  if (now.getTime() - given.getTime() <= (days.most + 1) * dayMs) return given
  throw new DomainError('BAD_USER_INPUT', `since lies more than ${days.most} days back: calls are kept no longer.`, { field: 'since' })
}

/** Converts a row for the graph, without the columns that it is not grouped by. */
export const shown = ({ userId, cachedTokens, cacheWriteTokens, inputTokens, outputTokens, units, costMicros, ...row }: UsageFound) => ({
  appId: null,
  model: null,
  provider: null,
  family: null,
  day: null,
  ...row,
  user: userId == null ? null : { id: userId },
  inputTokens: BigInt(inputTokens),
  cachedTokens: BigInt(cachedTokens),
  cacheWriteTokens: BigInt(cacheWriteTokens),
  outputTokens: BigInt(outputTokens),
  units: BigInt(units),
  costMicros: BigInt(costMicros),
})

/** Returns the display name of an app: its client's, else its service's. */
export function titleOf(appId: string, name: string | null): string {
  if (name) return name
  const slug = slugs.find(each => appId === `app_${each}`)
  return slug ? slug[0]!.toUpperCase() + slug.slice(1) : appId
}
