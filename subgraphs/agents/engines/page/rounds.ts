import type { Sweep } from '../../../../platform/jobs/queue.ts'

/** Work on rows that are due, beside requests. */
export interface Rounds {
  readonly sweep: Sweep
  /** Starts a round early: at once, or after a number of ms. */
  soon(ms?: number): void
  /** Starts nothing further. Rows in progress are taken up by another process, or after the next start. */
  stop(): Promise<void>
}

/** What rounds of one kind of row consist of. */
export interface RoundPlan<Held, Found> {
  readonly name: string
  /** Interval between rounds that nothing starts early, in ms. */
  readonly everyMs: number
  /** Maximum rows in progress in one process, and of one party, so that slow sites of one party delay nobody else. */
  readonly maxAtOnce: number
  readonly maxOfOne: number
  partyOf(held: Held): string
  /**
   * Claims the row whose turn it is; null for none. The claim ends at a stored time, so that another process takes over
   * from a dead one.
   * @param without parties whose rows are skipped
   */
  hold(without: readonly string[]): Promise<Held | null>
  /** Does the slow part. It holds no lock and writes nothing. */
  find(held: Held): Promise<Found>
  /** Writes the result. @returns ms until the row is tried again; undefined: it has ended */
  conclude(held: Held, found: Found): Promise<number | undefined>
  /** Reports an unexpected error; the claim's end leads to another attempt. */
  report(error: unknown, held: Held): void
}

/** Opens rounds in this process. */
export function openRounds<Held, Found>({ name, everyMs, maxAtOnce, maxOfOne, partyOf, hold, find, conclude, report }: RoundPlan<Held, Found>): Rounds {
  let wake = (_ms?: number): void => {}
  let over = false
  const inProgress = new Map<string, number>()
  const concluding = new Set<Promise<unknown>>()
  const count = (party: string, more: 1 | -1) => {
    const left = (inProgress.get(party) ?? 0) + more
    if (left > 0) inProgress.set(party, left)
    else inProgress.delete(party)
  }

  async function handle(held: Held): Promise<void> {
    try {
      const found = await find(held)
      if (over) return
      const concluded = conclude(held, found)
      concluding.add(concluded)
      const again = await concluded.finally(() => concluding.delete(concluded))
      if (again !== undefined) wake(again)
    } catch (error) {
      report(error, held)
    } finally {
      count(partyOf(held), -1)
      wake()
    }
  }

  return {
    soon: ms => wake(ms),
    sweep: {
      name,
      everyMs,
      wakes(whenAsked) {
        wake = whenAsked
      },
      // Rows are handled beside the sweep: a slow site must not make the sweep count as late.
      async run() {
        const sum = () => inProgress.values().reduce((all, each) => all + each, 0)
        while (!over && sum() < maxAtOnce) {
          const busy = [...inProgress].filter(([, under]) => under >= maxOfOne).map(([party]) => party)
          const held = await hold(busy)
          if (!held) return
          count(partyOf(held), 1)
          void handle(held)
        }
      },
    },
    async stop() {
      over = true
      await Promise.allSettled(concluding)
    },
  }
}
