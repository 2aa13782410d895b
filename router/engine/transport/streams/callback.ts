import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type { ExecutionResult } from 'graphql'
import type { Dispatcher } from 'undici'
import { z } from 'zod'
import type { ResultStream } from '../../engine.ts'
import { readRefusal, readResult } from '../answer.ts'
import { UpstreamFailure } from '../exchange.ts'
import { begin, type HttpStart } from './begin.ts'
import { ordinary, refusalIn } from './ordinary.ts'
import { brokenOff, createResults, failed, type Results } from './results.ts'

/** The answer to a call of a subgraph. */
export interface CallbackAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/**
 * Subscriptions whose events subgraphs send by requests to this process: Apollo's HTTP callback protocol
 * (https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/callback-protocol).
 */
export interface Callbacks {
  /**
   * Subscribes at a subgraph. Resolves when it has called `check` and answered with success; an answer with errors alone
   * is a rejection, and resolves to them. @throws UpstreamFailure when neither happens in time
   */
  subscribe(subscription: HttpStart): Promise<ResultStream | ExecutionResult>
  /** Whether calls of a subscription are taken. */
  knows(id: string): boolean
  /** Takes a sign of life for subscriptions. @returns the ids that nobody listens to */
  hear(ids: readonly string[]): readonly string[]
  /** Takes one call. @param id of its address @param bytes of the body */
  take(id: string, body: unknown, bytes: number): CallbackAnswer
}

export interface CallbackOptions {
  /** Address of this process that subgraphs reach; the subscription's id is put behind it. */
  readonly url: string
  /** Ms between two signs of life of a subgraph; after three without one the stream is lost. 0: none is awaited. */
  readonly heartbeatMs: number
  /** Makes the id of a subscription. @default a random UUID */
  readonly newId?: (() => string) | undefined
}

/** A subscription that is open. */
interface Open {
  readonly verifier: string
  readonly results: Results
  /** A sign of life of its subgraph. */
  heard(): void
  checked(): void
}

/** Maximum ids in one sign of life. */
const mostIds = 10_000

const call = z.object({
  kind: z.literal('subscription'),
  action: z.enum(['check', 'heartbeat', 'next', 'complete']),
  id: z.string(),
  verifier: z.string(),
  payload: z.record(z.string(), z.unknown()).nullish(),
  errors: z.array(z.unknown()).nullish(),
  ids: z.array(z.string()).max(mostIds).nullish(),
})

const accept = 'application/json;callbackSpec=1.0, application/json'

export function createCallbacks({ url, heartbeatMs, newId = randomUUID }: CallbackOptions): Callbacks {
  const open = new Map<string, Open>()
  const hear = (ids: readonly string[]) => {
    for (const id of ids) open.get(id)?.heard()
    return ids.filter(id => !open.has(id))
  }
  return {
    knows: id => open.has(id),
    hear,
    async subscribe(start) {
      const { signal } = start
      const [id, verifier] = [newId(), randomBytes(32).toString('base64url')]
      const cut = new AbortController()
      let silence: NodeJS.Timeout | undefined
      let isChecked = false
      let hasBegun = false
      const results = createResults(() => {
        // Its next call is answered with 404, by which the subgraph learns that nobody listens.
        open.delete(id)
        clearTimeout(silence)
        signal.removeEventListener('abort', leave)
        cut.abort()
      })
      const leave = () => results.end()
      const heard = () => {
        clearTimeout(silence)
        if (heartbeatMs > 0 && !results.isEnded()) silence = setTimeout(() => results.end(brokenOff(), 'lost'), 3 * heartbeatMs).unref()
      }
      const checked = () => {
        isChecked = true
      }
      open.set(id, { verifier, results, heard, checked })
      signal.addEventListener('abort', leave)
      try {
        return await begin(start, {
          accept,
          extensions: { subscription: { callbackUrl: `${url}/${id}`, subscriptionId: id, verifier, heartbeatIntervalMs: heartbeatMs } },
          cut,
          async read(answer) {
            const refused = await refusalOf(answer)
            if (refused) return refused
            if (!isChecked) throw new UpstreamFailure('answered', 'It answered before it had checked that the subscription is wanted')
            hasBegun = true
            heard()
            return results.stream
          },
        })
      } finally {
        if (!hasBegun) results.end()
      }
    },
    take(id, body, bytes) {
      const { data: said, error } = call.safeParse(body)
      if (!said) return { status: 400, body: { error: `Not a call of the protocol: ${error.issues[0]!.path.join('.')}: ${error.issues[0]!.message}` } }
      const subscription = said.id === id ? open.get(id) : undefined
      if (!subscription) return { status: 404 }
      if (!isSame(said.verifier, subscription.verifier)) return { status: 401 }
      const { results } = subscription
      subscription.heard()
      switch (said.action) {
        case 'check':
          subscription.checked()
          return { status: 204, headers: { 'subscription-protocol': 'callback/1.0' } }
        case 'heartbeat': {
          const unknown = hear(said.ids ?? [])
          if (unknown.length === 0) return { status: 204 }
          return { status: 400, body: { id, invalid_ids: unknown, verifier: said.verifier } }
        }
        case 'next':
          results.add(readResult(said.payload ?? {}) ?? { errors: [] }, bytes)
          return { status: 200 }
        case 'complete': {
          const errors = said.errors?.length ? (readRefusal(said.errors) ?? failed('The subscription was ended without a reason.')) : undefined
          results.end(errors, 'over')
          return { status: 202 }
        }
      }
    },
  }
}

/** Returns the errors with which a subscription is rejected; undefined where it begins. @throws UpstreamFailure */
async function refusalOf(answer: Dispatcher.ResponseData): Promise<ExecutionResult | undefined> {
  const isGood = answer.statusCode >= 200 && answer.statusCode < 300
  const result = await ordinary(answer, isGood)
  if (isGood) return refusalIn(result ?? undefined)
  throw new UpstreamFailure('answered', `It answered ${answer.statusCode}`)
}

/** Compares two verifiers in a time that does not depend on where they differ. */
function isSame(one: string, other: string): boolean {
  const [given, right] = [Buffer.from(one), Buffer.from(other)]
  return given.length === right.length && timingSafeEqual(given, right)
}
