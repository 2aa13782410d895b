/** When each long item last ran to its end, as an ISO date, by its name. */
export type Runs = Readonly<Record<string, string>>

/**
 * Returns the long items that this run has time for and those that it leaves out. The item whose last run lies furthest back comes
 * first, one that never ran before all others; an item that does not fit makes room for a shorter one behind it.
 */
export function takeTurns<I extends { readonly name: string; readonly seconds: number }>(
  items: readonly I[],
  runs: Runs,
  secondsLeft: number,
): { readonly chosen: readonly I[]; readonly leftOut: readonly I[] } {
  const chosen: I[] = []
  const leftOut: I[] = []
  let left = secondsLeft
  for (const item of items.toSorted((a, b) => (runs[a.name] ?? '').localeCompare(runs[b.name] ?? ''))) {
    if (item.seconds <= left) {
      chosen.push(item)
      left -= item.seconds
    } else leftOut.push(item)
  }
  return { chosen, leftOut }
}
