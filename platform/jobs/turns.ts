import { DomainError } from '../errors.ts'

/** A piece of work that waits for its turn. */
export interface Turn {
  /** Key of the work's owner: keys share the slots equally, by weight. */
  readonly key: string
  /** Amount of work, in the unit of `TurnOptions`. */
  readonly weight: number
  /** Whether the work may also take a reserved slot, and is never rejected. @default false */
  readonly isUrgent?: boolean
  /** Whether the work waits however much of its key does, for a caller that limits its own work. @default `isUrgent` */
  readonly isPatient?: boolean
}

/** Slots that keys take in turn, so that no key waits for all the work of another. */
export interface Turns {
  /**
   * Runs work when its turn has come. Work must not take a second turn while it runs: both would wait for each other.
   * @throws RATE_LIMITED with `retryAfter` when too much work of its key waits
   */
  run<Result>(turn: Turn, work: () => Promise<Result> | Result): Promise<Result>
}

/** Number of slots, and limits of waiting work. */
export interface TurnOptions {
  /** Plural noun for the waiting work, for error messages: `pictures`. */
  readonly what: string
  /** Maximum concurrent pieces of work. */
  readonly places: number
  /** Number of additional slots for urgent work only. @default 0 */
  readonly reserved?: number
  /** Weight from which work is heavy: one heavy piece runs at a time. @default none is */
  readonly heavyFrom?: number
  /** Maximum waiting weight of one key, and of all keys together. One piece of a key may always wait. */
  readonly maxWaiting: { readonly ofKey: number; readonly inAll: number }
  /** Approximate weight completed in a second: it determines an error's `retryAfter`. */
  readonly perSecond: number
}

interface Waiting {
  readonly weight: number
  /** The virtual time from which the work may begin. */
  readonly start: number
  begin(): void
}

/** The work of one key, with urgent and ordinary work in separate flows. */
interface Flow {
  readonly isUrgent: boolean
  readonly waiting: Waiting[]
  waitingWeight: number
  /** The virtual end time of the flow's last piece. */
  end: number
}

/** Number of idle flows above which they are removed. */
const maxIdleFlows = 1_000

/**
 * Creates slots that keys take in turn: start-time fair queueing (Goyal, Vin and Cheng, 1996). Each piece begins, in
 * virtual time, where the piece before it of the same key ends, and the piece with the earliest beginning runs next. So
 * a key with a thousand pieces delays another key by the pieces that run already, and by one of its own.
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

  /** Removes flows without waiting work, once they owe no time to the others. */
  const forget = () => {
    if (running === 0) flows.clear()
    else if (flows.size > maxIdleFlows) for (const [name, { waiting, end }] of flows) if (waiting.length === 0 && end <= now) flows.delete(name)
  }

  const requireSpace = (flow: Flow, weight: number) => {
    if (flow.waiting.length === 0) return
    const isKeyFull = flow.waitingWeight + weight > maxWaiting.ofKey
    if (!isKeyFull && waitingWeight + weight <= maxWaiting.inAll) return
    const retryAfter = Math.min(60, Math.max(1, Math.ceil((isKeyFull ? flow.waitingWeight : waitingWeight) / perSecond)))
    throw new DomainError('RATE_LIMITED', `Too many ${what} wait to be worked on: send fewer at once, and go on in ${retryAfter} seconds.`, { retryAfter })
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
