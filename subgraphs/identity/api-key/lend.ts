import type { KeyLoan, KeyUse } from '../../authority.ts'

/** Known uses of a key, over all routers. */
export interface Ledger {
  /** Number of uses in each slot of time, by the slot's number. */
  readonly taken: readonly (readonly [slot: number, uses: number])[]
  /** Uses lent to routers that they have not reported yet. */
  readonly lent: readonly (readonly [router: string, uses: number, at: number])[]
}

export const emptyLedger: Ledger = { taken: [], lent: [] }

/** Length of a slot in ms: uses are known to a quarter of a second. */
const slotMs = 250
const windowMs = 60_000

const slotOf = (at: number): number => Math.floor(at / slotMs)
const gone = (slot: number): number => (slot + 1) * slotMs + windowMs

/**
 * Records a router's uses, and returns what it may use: as many as wait, and a few more for the next second. Unreported
 * loans never exceed a tenth of the limit, and cause no rejections: so in any minute all routers together allow the
 * limit, and at most a tenth more.
 * @param now milliseconds since 1970
 */
export function lend(
  { taken, lent }: Ledger,
  { router, perMinute, used, want, spare }: KeyUse,
  now: number,
): { readonly ledger: Ledger; readonly loan: KeyLoan } {
  const uses = new Map(taken.filter(([slot]) => gone(slot) > now))
  const add = (at: number, count: number) => {
    if (count > 0) uses.set(slotOf(at), (uses.get(slotOf(at)) ?? 0) + count)
  }
  for (const { agoMs, count } of used) if (agoMs < windowMs) add(now - agoMs, count)
  const others = lent.filter(([holder, , at]) => holder !== router && at + windowMs > now)
  const outstanding = others.reduce((sum, [, count]) => sum + count, 0)
  const tenth = Math.floor(perMinute / 10)
  const room = Math.max(0, perMinute - sumOf(uses) - Math.max(0, outstanding - tenth))
  const granted = Math.min(want, room)
  add(now, granted)
  const more = Math.max(0, Math.min(spare, room - granted, tenth - outstanding))
  const waitMs = granted < want ? waitIn(uses, now) : 0
  return {
    ledger: { taken: [...uses].sort(([a], [b]) => a - b), lent: more > 0 ? [...others, [router, more, now]] : others },
    loan: { granted, spare: more, waitMs },
  }
}

const sumOf = (uses: ReadonlyMap<number, number>): number => uses.values().reduce((sum, count) => sum + count, 0)

/** Returns the ms until the oldest use is a minute old. */
function waitIn(uses: ReadonlyMap<number, number>, now: number): number {
  const oldest = Math.min(...uses.keys())
  return Number.isFinite(oldest) ? Math.max(1, gone(oldest) - now) : 1000
}
