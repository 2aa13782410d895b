/** A promise that resolves in a later turn of the event loop. */
type Later = Promise<void>

/** The part of an event-loop turn that one organization's operations have used. */
interface Slice {
  taken: number
  /** The latest turn that one of the organization's operations waits for; null when none waits. */
  turn: Later | null
}

/** Divides turns of the event loop among organizations. */
export interface Slices {
  /**
   * Takes an amount from an organization's share of the current turn.
   * @returns null while the share lasts, else a promise of a later turn: amounts of several operations are granted one
   * after the other
   */
  take(organization: string, amount: number): Later | null
}

/** Number of organizations above which those without a waiting operation are forgotten. */
const maxIdle = 1_000

/**
 * Creates the shares. All operations of one organization share one part of a turn, however many there are: with a part
 * for each, a turn would grow with their number and delay the operations of other organizations.
 * @param share amount of a turn for all operations of one organization
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
