import type { Stripe } from 'stripe'
import { DomainError } from '../../../platform/errors.ts'
import { awayCause } from '../../../platform/sql/away.ts'
import { writing } from '../../store/books.ts'
import { write } from '../../store/write.ts'
import { callerOf } from '../administration/caller.ts'
import type { Context } from '../context.ts'
import { readKey } from './read.ts'
import { mostMs } from './stripe/client.ts'
import { type Failure, failureOf, isKeyInUse, isKeyRefused } from './stripe/failure.ts'

/** Options of a call, passed to the official client as last argument. */
export type Options = Stripe.RequestOptions

/** A request to the processor. */
export interface Asking<Answer> {
  /** Name in the log of calls, as in the graph: `createProcessorRefund`. */
  readonly operation: string
  /** Number of calls. @default 1 */
  readonly calls?: number
  run(stripe: Stripe, options: Options): Promise<Answer>
}

/** A request that changes something at the processor. */
export interface ProcessorChange<Answer extends { readonly id: string }> extends Asking<Answer> {
  /** The processor's idempotency key, passed on unchanged. */
  readonly idempotencyKey: string
  /** Audit action: `processor_refund.created`. */
  readonly action: string
  /** Further details of the audit entry. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** An answer of the processor. */
interface Answered<Answer> {
  readonly answer: Answer
  /** Secret used for the call. */
  readonly secret: string
}

/**
 * Sends a request to the processor. It counts as a call at a fixed price once anything was sent, whatever the result.
 * @throws BUDGET_EXCEEDED before anything is sent; CONFLICT, reason NO_CREDENTIAL, and as `failureOf` says
 */
export async function askProcessor<Answer>(context: Context, asking: Asking<Answer>): Promise<Answer> {
  const { answer } = await counted(context, asking, null)
  return answer
}

/**
 * Sends a change to the processor, once for each key, with an audit entry, also for an unknown outcome: money may have
 * moved.
 * @throws as `askProcessor`
 */
export async function changeAtProcessor<Answer extends { readonly id: string }>(context: Context, telling: ProcessorChange<Answer>): Promise<Answer> {
  const key = readKey(telling.idempotencyKey)
  const { answer, callId } = await counted(context, telling, key)
  const isReplay = headersOf(answer)['idempotent-replayed'] === 'true'
  if (isReplay) context[writing].replay?.()
  await record(context, telling.action, callId, { processorId: answer.id, ...telling.details, ...(isReplay && { repeated: true }) })
  return answer
}

async function counted<Answer>(context: Context, asking: Asking<Answer>, key: string | null): Promise<{ readonly answer: Answer; readonly callId: string }> {
  const { calls, credentialsInUse } = context
  const { operation, calls: count = 1 } = asking
  const unsentIfAway = (cause: unknown): never => {
    throw awayCause(cause) === null ? cause : unsent()
  }
  const caller = await callerOf(context).catch(unsentIfAway)
  const credential = await credentialsInUse.resolve('stripe', caller.organizationId).catch(unsentIfAway)
  if (!credential)
    throw new DomainError('CONFLICT', 'There is no credential of stripe, for this organization or for the platform: keep one first.', {
      ...{ reason: 'NO_CREDENTIAL', provider: 'stripe' },
    })
  const costMicros = calls.priceOf.payment * BigInt(count)
  const candidate = { model: null, provider: 'stripe', upperMicros: costMicros }
  const call = await calls.begin(caller, { family: 'PAYMENTS', operation, requestedModel: null, candidates: [candidate] }).catch(unsentIfAway)
  const startedAt = performance.now()
  const settle = (status: 'SUCCEEDED' | 'FAILED', micros: bigint, http: number | null, failure: string | null) => {
    const latencyMs = Math.round(performance.now() - startedAt)
    const attempt = { provider: 'stripe', model: null, status: http, failure, latencyMs }
    return call.settle({ status, provider: 'stripe', model: null, units: count, costMicros: micros, attempts: [attempt], latencyMs })
  }
  try {
    const answered = await attempted(context, asking, { key, secrets: credential.secrets, until: startedAt + mostMs })
    credentialsInUse.note(credential, answered.secret, 'taken')
    await settle('SUCCEEDED', costMicros, 200, null)
    return { answer: answered.answer, callId: call.id }
  } catch (error) {
    const failure = failureOf(error, credential.secrets)
    await settle(
      'FAILED',
      failure && !failure.wasSent ? 0n : costMicros,
      failure?.status ?? null,
      failure?.word ?? (error instanceof DomainError ? 'refused here' : 'accident'),
    )
    if (!failure) throw error
    if (failure.credential) credentialsInUse.note(credential, credential.secrets[0], failure.credential, wordsOf(failure))
    if (failure.isUnknown && key !== null) await record(context, 'processor_call.unanswered', call.id, { operation })
    throw failure.refusal
  }
}

const wordsOf = ({ credential, status }: Failure): string | undefined => (credential === 'refused' ? `The processor answered ${status}.` : undefined)

/** Initial and maximum pause in ms while another call with the same key runs. */
const waits = { first: 100, most: 2_000 }

/**
 * Makes one attempt; a second one with the former secret, if the present one is rejected; and further ones while
 * another call with the same key runs: in both cases nothing was done.
 */
async function attempted<Answer>(
  { processor }: Context,
  { run }: Asking<Answer>,
  { key, secrets, until }: { readonly key: string | null; readonly secrets: readonly [string, string?]; readonly until: number },
): Promise<Answered<Answer>> {
  const stripe = await processor()
  let [secret, previous] = secrets
  for (let wait = waits.first; ; ) {
    const options: Options = {
      ...{ apiKey: secret, ...(key !== null && { idempotencyKey: key }) },
      // If an operation makes two calls, the second has the remaining time.
      get timeout() {
        return Math.max(1, Math.ceil(until - performance.now()))
      },
    }
    try {
      return { answer: await run(stripe, options), secret }
    } catch (error) {
      if (previous !== undefined && isKeyRefused(error)) {
        secret = previous
        previous = undefined
        continue
      }
      if (!isKeyInUse(error) || performance.now() + wait >= until) throw error
      await new Promise(resolve => setTimeout(resolve, wait))
      wait = Math.min(wait * 2, waits.most)
    }
  }
}

/** Removes the key for a further call that only reads: a key is valid for one path only. */
export const keyless = ({ idempotencyKey, ...options }: Options): Options => options

const headersOf = (answer: unknown): Readonly<Record<string, string>> =>
  (answer as { lastResponse?: { headers?: Record<string, string> } }).lastResponse?.headers ?? {}

/**
 * Writes an audit entry, with the processor's own id of the call as a detail.
 * @throws UPSTREAM_FAILED, outcome `unknown`, when the database is unavailable: the change was made by then, and the
 * same key returns it
 */
async function record(context: Context, action: string, subjectId: string, details: Readonly<Record<string, unknown>>): Promise<void> {
  const { organizationId } = await callerOf(context)
  const line = { tenantId: organizationId, action, subjectId, details }
  await write(context, { run: async () => subjectId, audit: () => line }).catch(cause => {
    throw awayCause(cause) === null ? cause : unwritten()
  })
}

const unsent = (): DomainError =>
  new DomainError('UPSTREAM_FAILED', 'The database is away, and nothing was sent to the processor: try again under the same idempotencyKey.', {
    outcome: 'not_sent',
  })

const unwritten = (): DomainError =>
  new DomainError(
    'UPSTREAM_FAILED',
    'The processor was called, but its answer could not be stored: send the same request again with the same idempotencyKey.',
    {
      outcome: 'unknown',
    },
  )
