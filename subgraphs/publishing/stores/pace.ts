// Duration of claims and number of concurrent posts, for rules and statements.

/**
 * Time in ms after which a call counts as interrupted: it begins within 3 s and takes at most 10 s, which leaves 4 s
 * for clocks that differ.
 */
export const sendMs = 17_000
/** Maximum number of posts of one brand for one network that are sent at once; they share a connection. */
export const sentAtOnce = 4

/** Maximum distance of the end of a claim, in ms: the longest claim, and a minute for clocks that differ. */
export const farthestClaimMs = sendMs + 60_000
/** Maximum distance of the next request or attempt, in ms: the longest pause, and a minute for clocks that differ. */
export const farthestPauseMs = 360_000

/** Maximum time in ms that a post waits: as long as a network's limit may delay it, and a minute. */
export const farthestWaitMs = 3_660_000

/**
 * Whether a moment has come. A moment farther ahead than possible was written by a clock that was set back later, and
 * counts as come.
 */
export const hasCome = (moment: Date | null, now: Date, farthestMs: number): boolean =>
  moment === null || moment <= now || moment.getTime() - now.getTime() > farthestMs

/** Builds the same condition for a column, in SQL. @param now placeholder of the moment */
export const hasComeInSql = (column: string, now: string, farthestMs: number): string =>
  `(${column} is null or ${column} <= ${now} or ${column} > ${now}::timestamptz + interval '${farthestMs} milliseconds')`
