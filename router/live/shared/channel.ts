import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql'
import { goOnFrom } from '../../../platform/events.ts'
import { publicCodeOf } from '../../access/refusal.ts'
import type { InTurn, LiveStream } from '../../engine/engine.ts'
import { type AudienceFigures, createAudience, type Listener } from './audience.ts'
import { type FormatErrors, messageOf, type StreamMessage } from './message.ts'

/** One subscriber's part in a stream. */
export interface Membership {
  /** Starts delivery to the listener: first the latest event of each item, where the stream keeps them. Called once. */
  listen(listener: Listener): void
  /** Ends the event in progress for the listener, before the stream ends for it: the parts that are open fail by an error. */
  cut(error: GraphQLFormattedError): void
  /** Leaves the stream; the last subscriber to leave ends it. */
  leave(): void
}

/** A subscriber who can also start the stream. */
export interface Opener {
  /** @param inTurn runs the work at each event */
  start(signal: AbortSignal, inTurn: InTurn): Promise<LiveStream | ExecutionResult>
  /** Runs work in one of the subscriber's slots. @default at once */
  readonly inTurn?: InTurn | undefined
  /** Aborts when the subscriber leaves while the stream starts; afterwards its membership leaves. */
  readonly leaving?: AbortSignal | undefined
  /** The form in which errors of the stream leave the platform. */
  readonly formatErrors: FormatErrors
}

export interface ChannelNeeds extends AudienceFigures {
  /** Called when the last subscriber left or the stream ended: nobody else may join. */
  closed(): void
  /** Called after an internal error: the stream has ended for all subscribers. */
  failed(cause: unknown): void
  readonly patience: Patience
}

/** How long a stream tries to restore a lost source. */
export interface Patience {
  /** Milliseconds from the loss until the stream ends with an error. */
  readonly lostMs: number
  /** Milliseconds before the first attempt, doubled for each further one, up to a maximum. */
  readonly firstMs: number
  readonly longestMs: number
}

/** One upstream stream and all its subscribers. */
export interface Channel {
  /** @returns a refusal when the stream does not start */
  join(opener: Opener): Promise<Membership | ExecutionResult>
  /** Ends the stream for all subscribers with these errors. */
  end(errors: readonly GraphQLFormattedError[]): void
}

const atOnce: InTurn = work => work()

/** Number of subscribers with whose rights a restart is tried when it is rejected for one of them. */
const mostAsked = 3

/** Codes of rejections after which another attempt may succeed: an unknown code is an internal error. */
const passing: ReadonlySet<string> = new Set(['UPSTREAM_FAILED', 'INTERNAL_SERVER_ERROR', 'RATE_LIMITED'])

/** Uses the slot of any subscriber with a free one, so that other work of the first subscriber delays nobody. */
const anyTurn =
  (openers: ReadonlySet<Opener>): InTurn =>
  work => {
    let first: InTurn | undefined
    for (const { inTurn: own = atOnce } of openers) {
      if (own.hasRoom?.() ?? true) return own(work)
      first ??= own
    }
    return (first ?? atOnce)(work)
  }

/**
 * Delivers the events of one source until it ends. @returns whether there were any; results that only report a
 * failure do not count
 */
async function follow(
  source: LiveStream,
  opener: Opener,
  { signal, deliver }: { signal: AbortSignal; deliver(message: StreamMessage): Promise<void> },
): Promise<boolean> {
  let isInEvent = false
  for (let isAlive = false; ; ) {
    const { value, done } = await source.next()
    if (done || signal.aborted) return isAlive
    const isEvent = isInEvent ? 'hasNext' in value.answer : holdsEvent(value.answer)
    isInEvent = 'hasNext' in value.answer && value.answer.hasNext
    // Clients learn of the lost stream only if it cannot be restored: until then no value has become null.
    if (source.isLost() && !isEvent) return isAlive
    isAlive ||= isEvent
    await deliver(messageOf(value, opener.formatErrors))
  }
}

export function createChannel(needs: ChannelNeeds): Channel {
  const { closed, failed, patience } = needs
  const openers = new Set<Opener>()
  const audience = createAudience(needs)
  const ending = new AbortController()
  const { signal } = ending
  let stream: LiveStream | null = null
  let begun: Promise<ExecutionResult | null> | null = null

  const inTurn = anyTurn(openers)
  const close = () => {
    if (signal.aborted) return
    ending.abort()
    closed()
    void stream?.return()
    openers.clear()
    audience.clear()
  }
  const end = (errors: readonly GraphQLFormattedError[]) => {
    const all = audience.listeners()
    const [error] = errors
    if (error) audience.cutAll(error)
    close()
    for (const listener of all) listener.end(errors)
  }

  /** Restarts the source with the rights of any present subscriber, until it works again or the time is over. */
  const follows = async (first: LiveStream, opener: Opener) => {
    let source: LiveStream | null = first
    let by = opener
    let lostAt: number | null = null
    let attempt = 0
    for (;;) {
      if (source) {
        stream = source
        const since = performance.now()
        const isAlive = await follow(source, by, { signal, deliver: audience.deliver })
        audience.cutAll(brokenOff)
        stream = null
        void source.return()
        if (source.isOver?.() && !signal.aborted) return end([])
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
      else if (attempt > Math.min(present.length, mostAsked) && !restarted.errors?.some(error => passing.has(publicCodeOf(error))))
        return end(by.formatErrors(restarted.errors ?? []))
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
      if (own) audience.leave(own)
      openers.delete(opener)
      if (openers.size === 0) close()
    }
    return {
      leave,
      cut(error) {
        if (own) audience.cut(error, own)
      },
      listen(listener) {
        // The stream ended before a listener was added.
        if (signal.aborted) return listener.end([gone])
        own = listener
        audience.add(listener)
      },
    }
  }
}

/** Whether a result holds an event's data: a failure has null for the field, and errors. */
const holdsEvent = ({ data, errors }: ExecutionResult): boolean => Boolean(data) && (!errors || Object.values(data!).some(value => value !== null))

/** Starts a stream; an internal error while it starts is a rejection that a later attempt may not meet. */
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

/**
 * Waits up to a fifth longer than the given time, so that routers that lost the same source do not all reconnect at
 * once.
 */
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

/** Error of the parts of an event that broke off, while its stream goes on. */
const brokenOff: GraphQLFormattedError = {
  message: 'The event broke off, and its other parts do not come: read what is shown again.',
  extensions: { code: 'UPSTREAM_FAILED' },
}

/** The last word of a stream whose source did not come back. */
const gone: GraphQLFormattedError = {
  message: 'The events ended, for their service could not be reached any more: read what is shown again, and subscribe again.',
  extensions: { code: 'UPSTREAM_FAILED' },
}
