import { Refusal } from '../errors.ts'

/** A piece of work that waits for its turn. */
export interface Turn {
  /** Whose work it is: keys share the places equally, by weight. */
  readonly key: string
  /** How much work it is, in the unit of `TurnOptions`. */
  readonly weight: number
  /** Whether it may take a reserved place too, and is never refused. @default false */
  readonly isUrgent?: boolean
  /** Whether it waits, however much work of its key does, for a caller that bounds its own work. @default `isUrgent` */
  readonly isPatient?: boolean
}

/** Places that pieces of work take in turn, so that no key waits for all the work of another. */
export interface Turns {
  /**
   * Runs a piece of work when its turn has come. A piece takes no second turn while it runs: both would wait for each other.
   * @throws RATE_LIMITED with `retryAfter` when too much work of its key waits
   */
  run<Result>(turn: Turn, work: () => Promise<Result> | Result): Promise<Result>
}

/** How many places there are, and how much may wait for them. */
export interface TurnOptions {
  /** What waits, in the plural, for the sentence of a refusal: `pictures`. */
  readonly what: string
  /** How many pieces run at once. */
  readonly places: number
  /** How many places only urgent work takes, beside the others. @default 0 */
  readonly reserved?: number
  /** From which weight a piece is heavy: one heavy piece runs at a time. @default none is */
  readonly heavyFrom?: number
  /** How much weight of one key waits at most, and of all keys together. One piece of a key may always wait. */
  readonly maxWaiting: { readonly ofKey: number; readonly inAll: number }
  /** About how much weight one second works off: a refusal tells from it when to come again. */
  readonly perSecond: number
}

interface Waiting {
  readonly weight: number
  /** The virtual time from which it may begin. */
  readonly start: number
  begin(): void
}

/** The work of one key, urgent and ordinary work apart. */
interface Flow {
  readonly isUrgent: boolean
  readonly waiting: Waiting[]
  waitingWeight: number
  /** The virtual time at which its last piece ends. */
  end: number
}

/** How many flows are looked through before those that ended are forgotten. */
const maxIdleFlows = 1_000

/**
 * Makes places that keys take in turn: start-time fair queueing (Goyal, Vin and Cheng, 1996). Each piece begins, in virtual time, where the
 * piece before it of the same key ends, and the piece with the earliest beginning runs next. So a key with a thousand pieces delays another
 * key by the pieces that run already, and by one of its own.
 */
export function createTurns({ what, places, reserved = 0, heavyFrom = Number.POSITIVE_INFINITY, maxWaiting, perSecond }: TurnOptions): Turns {
  const flows = new Map<string, Flow>()
  let now = 0
  let running = 0
  let urgent = 0
  let isHeavyRunning = false
  let waitingWeight = 0

  /** The flow whose first piece runs next; undefined when none may. */
  const next = (): Flow | undefined => {
    if (running >= places + reserved) return undefined
    const hasPlace = running - Math.min(urgent, reserved) < places
    let found: Flow | undefined
    for (const flow of flows.values()) {
      const [first] = flow.waiting
      if (!first || (!hasPlace && !flow.isUrgent) || (isHeavyRunning && first.weight >= heavyFrom)) continue
      if (!found || first.start < found.waiting[0]!.start) found = flow
    }
    return found
  }

  const dispatch = () => {
    for (let flow = next(); flow; flow = next()) {
      const piece = flow.waiting.shift()!
      flow.waitingWeight -= piece.weight
      waitingWeight -= piece.weight
      now = Math.max(now, piece.start)
      running += 1
      if (flow.isUrgent) urgent += 1
      isHeavyRunning ||= piece.weight >= heavyFrom
      piece.begin()
    }
    forget()
  }

  /** Forgets flows that no piece waits in, once they owe no time to the others. */
  const forget = () => {
    if (running === 0) flows.clear()
    else if (flows.size > maxIdleFlows) for (const [name, { waiting, end }] of flows) if (waiting.length === 0 && end <= now) flows.delete(name)
  }

  const requireSpace = (flow: Flow, weight: number) => {
    if (flow.waiting.length === 0) return
    const isKeyFull = flow.waitingWeight + weight > maxWaiting.ofKey
    if (!isKeyFull && waitingWeight + weight <= maxWaiting.inAll) return
    const retryAfter = Math.min(60, Math.max(1, Math.ceil((isKeyFull ? flow.waitingWeight : waitingWeight) / perSecond)))
    throw new Refusal('RATE_LIMITED', `Too many ${what} wait to be worked on: send fewer at once, and go on in ${retryAfter} seconds.`, { retryAfter })
  }

  return {
    async run({ key, weight, isUrgent = false, isPatient = isUrgent }, work) {
      const name = `${isUrgent ? 'urgent' : 'ordinary'} ${key}`
      const flow = flows.get(name) ?? { isUrgent, waiting: [], waitingWeight: 0, end: 0 }
      if (!isPatient) requireSpace(flow, weight)
      flows.set(name, flow)
      const start = Math.max(now, flow.end)
      flow.end = start + weight
      flow.waitingWeight += weight
      waitingWeight += weight
      await new Promise<void>(begin => {
        flow.waiting.push({ weight, start, begin })
        dispatch()
      })
      try {
        return await work()
      } finally {
        running -= 1
        if (isUrgent) urgent -= 1
        if (weight >= heavyFrom) isHeavyRunning = false
        dispatch()
      }
    },
  }
}
