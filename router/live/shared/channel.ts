import { setImmediate as turn } from 'node:timers/promises'
import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql'
import { goOnFrom } from '../../../platform/events.ts'
import { toldCode } from '../../access/refusal.ts'
import type { InTurn, LiveStream } from '../../engine/engine.ts'
import { createLatest } from './latest.ts'
import { type Told, toldOf } from './told.ts'

/** Who is told the events of a stream. */
export interface Listener {
  /** Takes an event at once: what waits for its client to read is its own to bound. Never throws. */
  tell(told: Told): void
  /** Nothing follows. Without errors the stream ended by itself. */
  end(errors: readonly GraphQLFormattedError[]): void
}

/** One person's part in a stream. */
export interface Membership {
  /** From now on the listener is told: first the latest event of each thing, where the stream keeps them. Called once. */
  listen(listener: Listener): void
  /** The last who leaves ends the stream. */
  leave(): void
}

/** Whoever takes part in a stream could also start it. */
export interface Opener {
  /** @param inTurn works out its events */
  start(signal: AbortSignal, inTurn: InTurn): Promise<LiveStream | ExecutionResult>
  /** Works something out in a place of this one's. @default at once */
  readonly inTurn?: InTurn | undefined
  /** Aborts when this one is gone while the stream starts; afterwards its membership leaves. */
  readonly leaving?: AbortSignal | undefined
  /** The form in which errors of the stream leave the platform. */
  tellErrors(errors: NonNullable<ExecutionResult['errors']>): readonly GraphQLFormattedError[]
}

export interface ChannelNeeds {
  /** An event was worked out, and told to so many. */
  told(listeners: number): void
  /** A later subscriber received so many earlier events. */
  toldAgain(events: number): void
  /** The last one left, or the stream ended: nobody else may join. */
  closed(): void
  /** Something broke that should not have: everybody's part has ended. */
  failed(cause: unknown): void
  readonly patience: Patience
}

/** How long a lost source is looked for. */
export interface Patience {
  /** Milliseconds from its loss until the stream ends with an error. */
  readonly lostMs: number
  /** Milliseconds before the first attempt, doubled for each further one, up to the longest. */
  readonly firstMs: number
  readonly longestMs: number
}

/** One upstream stream and all its subscribers. */
export interface Channel {
  /** @returns a refusal when the stream does not start */
  join(opener: Opener): Promise<Membership | ExecutionResult>
  /** Ends everybody's part with these errors. */
  end(errors: readonly GraphQLFormattedError[]): void
}

/** How many clients are told an event before others get their turn of the event loop. */
const mostTold = 250

const atOnce: InTurn = work => work()

/** How many of those present are tried when the stream is refused to one of them. */
const mostAsked = 3

/** Codes of refusals that another attempt may not meet, as they are told: what has no code of ours is an accident. */
const passing: ReadonlySet<string> = new Set(['UPSTREAM_FAILED', 'INTERNAL_SERVER_ERROR', 'RATE_LIMITED'])

export function createChannel({ told: count, toldAgain, closed, failed, patience }: ChannelNeeds): Channel {
  const openers = new Set<Opener>()
  const listeners = new Set<Listener>()
  const latest = createLatest()
  const ending = new AbortController()
  const { signal } = ending
  let stream: LiveStream | null = null
  let begun: Promise<ExecutionResult | null> | null = null

  const close = () => {
    if (signal.aborted) return
    ending.abort()
    closed()
    void stream?.return()
    openers.clear()
    listeners.clear()
    latest.clear()
  }
  const end = (errors: readonly GraphQLFormattedError[]) => {
    const all = [...listeners]
    close()
    for (const listener of all) listener.end(errors)
  }

  /** Uses the place of any subscriber with a free one, so that other work of the first subscriber delays nobody. */
  const inTurn: InTurn = work => {
    let first: InTurn | undefined
    for (const { inTurn: own = atOnce } of openers) {
      if (own.hasRoom?.() ?? true) return own(work)
      first ??= own
    }
    return (first ?? atOnce)(work)
  }

  const deliver = async (told: Told) => {
    latest.keep(told)
    const present = [...listeners]
    count(present.length)
    for (const [index, listener] of present.entries()) {
      if (index > 0 && index % mostTold === 0) await turn()
      if (listeners.has(listener)) listener.tell(told)
    }
  }

  /** Delivers the events of one source until it ends. @returns whether there were any; what only says that something failed is none */
  const follow = async (source: LiveStream, opener: Opener): Promise<boolean> => {
    for (let isAlive = false; ; ) {
      const { value, done } = await source.next()
      if (done || signal.aborted) return isAlive
      const isEvent = holdsEvent(value.answer)
      // Clients learn of the lost stream only if it cannot be restored: until then no value has become null.
      if (source.isLost() && !isEvent) return isAlive
      isAlive ||= isEvent
      await deliver(toldOf(value, opener.tellErrors))
    }
  }

  /** Starts the source anew, with whoever is present, until it is there again or the patience is over. */
  const follows = async (first: LiveStream, opener: Opener) => {
    let source: LiveStream | null = first
    let by = opener
    let lostAt: number | null = null
    let attempt = 0
    for (;;) {
      if (source) {
        stream = source
        const since = performance.now()
        const isAlive = await follow(source, by)
        stream = null
        void source.return()
        if (isAlive || performance.now() - since >= patience.longestMs) {
          lostAt = null
          attempt = 0
        }
      }
      if (signal.aborted) return
      lostAt ??= performance.now()
      if (performance.now() - lostAt >= patience.lostMs) return end([gone])
      await pause(Math.min(patience.longestMs, patience.firstMs * 2 ** attempt), signal)
      if (signal.aborted) return
      attempt += 1
      // One after the other, because a refusal may concern only one of them.
      const present = [...openers]
      by = present[attempt % present.length]!
      const restarted = await goOnFrom(lostAt, () => started(by, signal, inTurn))
      if (signal.aborted) return void ('isLost' in restarted && restarted.return())
      if ('isLost' in restarted) source = restarted
      else if (attempt > Math.min(present.length, mostAsked) && !restarted.errors?.some(error => passing.has(toldCode(error))))
        return end(by.tellErrors(restarted.errors ?? []))
      else source = null
    }
  }

  const begin = async (opener: Opener): Promise<ExecutionResult | null> => {
    const first = await started(opener, signal, inTurn)
    if (!('isLost' in first)) {
      close()
      return first
    }
    if (signal.aborted) void first.return()
    else
      follows(first, opener).catch(cause => {
        failed(cause)
        end([broken])
      })
    return null
  }

  return {
    end,
    async join(opener) {
      openers.add(opener)
      const membership = membershipOf(opener)
      opener.leaving?.addEventListener('abort', membership.leave)
      if (opener.leaving?.aborted) membership.leave()
      begun ??= begin(opener)
      const refused = await begun
      opener.leaving?.removeEventListener('abort', membership.leave)
      return refused ?? membership
    },
  }

  function membershipOf(opener: Opener): Membership {
    let own: Listener | null = null
    const leave = () => {
      if (own) listeners.delete(own)
      openers.delete(opener)
      if (openers.size === 0) close()
    }
    return {
      leave,
      listen(listener) {
        // The stream ended before anybody listened.
        if (signal.aborted) return listener.end([gone])
        own = listener
        const present = latest.all()
        for (const told of present) listener.tell(told)
        toldAgain(present.length)
        listeners.add(listener)
      },
    }
  }
}

/** Whether an answer has anything of an event: one to a failure has null for the field, and errors. */
const holdsEvent = ({ data, errors }: ExecutionResult): boolean => Boolean(data) && (!errors || Object.values(data!).some(value => value !== null))

/** What breaks while it starts is a refusal that may pass. */
async function started(opener: Opener, signal: AbortSignal, inTurn: InTurn): Promise<LiveStream | ExecutionResult> {
  try {
    return await opener.start(signal, inTurn)
  } catch (cause) {
    return {
      data: null,
      errors: [new GraphQLError('The stream could not be started.', { originalError: cause instanceof Error ? cause : new Error(String(cause)) })],
    }
  }
}

/** Up to a fifth longer, so that those who lost the same source do not all come back at once. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const timer = setTimeout(over, ms * (1 + Math.random() / 5)).unref()
    signal.addEventListener('abort', over)
    function over() {
      clearTimeout(timer)
      signal.removeEventListener('abort', over)
      resolve()
    }
  })

/** The last word of a stream that our own mistake ended. */
const broken: GraphQLFormattedError = {
  message: 'The stream broke: subscribe again, and read what is shown again.',
  extensions: { code: 'INTERNAL_SERVER_ERROR' },
}

/** The last word of a stream whose source did not come back. */
const gone: GraphQLFormattedError = {
  message: 'The events ended, for their service could not be reached any more: read what is shown again, and subscribe again.',
  extensions: { code: 'UPSTREAM_FAILED' },
}
