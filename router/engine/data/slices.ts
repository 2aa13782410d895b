/** A promise that is kept in one of the next turns of the event loop. */
type Later = Promise<void>

/** What one organization's operations have taken of a turn of the event loop. */
interface Slice {
  taken: number
  /** The last turn of those that its operations wait for; null when none does. */
  turn: Later | null
}

/** Shares turns of the event loop out to organizations. */
export interface Slices {
  /**
   * Takes so much of an organization's share of a turn.
   * @returns null while the share lasts, else a promise of a later turn: what several operations take comes one after the other
   */
  take(organization: string, amount: number): Later | null
}

/** Of how many organizations that wait for nothing it is remembered what they took. */
const maxIdle = 1_000

/**
 * Makes the shares. However many operations of one organization work at once, together they take as much of one turn as one of them may: what
 * others wait for would else take as many times as long as there are operations.
 * @param share how much all operations of one organization take of a turn
 */
export function createSlices(share: number, nextTurn: () => Later = () => new Promise(resolve => setImmediate(resolve))): Slices {
  const slices = new Map<string, Slice>()
  const forgetIdle = () => {
    for (const [organization, { turn }] of slices) if (!turn) slices.delete(organization)
  }
  return {
    take(organization, amount) {
      let slice = slices.get(organization)
      if (!slice) {
        if (slices.size >= maxIdle) forgetIdle()
        slice = { taken: 0, turn: null }
        slices.set(organization, slice)
      }
      const own = slice
      own.taken += amount
      if (own.taken > share) {
        own.taken = amount
        const turn = (own.turn ?? Promise.resolve()).then(nextTurn)
        own.turn = turn
        void turn.then(() => {
          if (own.turn === turn) own.turn = null
        })
      }
      return own.turn
    },
  }
}
