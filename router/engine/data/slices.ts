/** A promise that resolves in a later turn of the event loop. */
type Later = Promise<void>

/** What one organization's operations have taken of a turn of the event loop. */
interface Slice {
  taken: number
  /** The latest turn that one of its operations waits for; null when none waits. */
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

/** How many organizations are remembered before those without a waiting operation are forgotten. */
const maxIdle = 1_000

/**
 * Makes the shares. All operations of one organization together take one share of a turn, however many there are: with a share each, a turn
 * would grow with their number, and the operations of others would wait for it.
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
