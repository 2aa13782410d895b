// How long a post is held and how many at once: what rules decide by, and what statements look for.

/**
 * How long a call may be under way before it counts as interrupted, in ms: it begins within 3 s and takes at most 10 s, which leaves
 * 4 s for clocks that disagree.
 */
export const sendMs = 17_000
/** How many posts of one brand for one network, which share a connection, are sent at once. */
export const sentAtOnce = 4

/** How far ahead the end of a claim may lie, in ms: the longest claim, and a minute for clocks that disagree. */
export const farthestClaimMs = sendMs + 60_000
/** How far ahead the next question or try may lie, in ms: the longest pause, and a minute for clocks that disagree. */
export const farthestPauseMs = 360_000

/** How far ahead a post may wait, in ms: as long as a network's limit may keep it, and a minute. */
export const farthestWaitMs = 3_660_000

/** Whether a moment has come; one that lies farther ahead than it can was written by a clock that was set back since, and counts as come. */
export const hasCome = (moment: Date | null, now: Date, farthestMs: number): boolean =>
  moment === null || moment <= now || moment.getTime() - now.getTime() > farthestMs

/** The same of a column, in SQL. @param now the placeholder of the moment */
export const hasComeInSql = (column: string, now: string, farthestMs: number): string =>
  `(${column} is null or ${column} <= ${now} or ${column} > ${now}::timestamptz + interval '${farthestMs} milliseconds')`
