import type { ExecutionResult, GraphQLError } from 'graphql'
import { mostAnswerBytes } from '../data/bytes.ts'
import { caching, type IncrementalAnswer, type IncrementalForm, type Payload } from '../engine.ts'
import { errorFor, errorFrom, TooMuch } from '../errors.ts'
import { type Run, runDeferred, runPlan } from '../execute/execute.ts'
import { withElements } from '../execute/incremental/streamed.ts'
import { type Deferral, firstOf, isWithin } from '../operation/deferral.ts'
import { clientErrors, type ErrorReader, flawErrors } from '../shape/errors.ts'
import { bringersAt } from '../shape/parts.ts'
import { abandon, finish as finishWork } from '../work.ts'
import { asideOf } from './aside.ts'
import type { NativeOptions } from './hooks.ts'
import { settled } from './leaving.ts'
import { type OpenPart, PayloadWriter, type PooledError } from './payloads.ts'
import { type Incremental, type Ready, refused } from './prepare.ts'

/** Maximum number of parts of one answer, where the configuration sets none. */
const usualParts = 1000

/** What running one operation with deferred fragments needs. */
interface IncrementalRun {
  readonly ready: Ready
  readonly incremental: Incremental
  readonly run: Run
  readonly form: IncrementalForm
  readonly options: NativeOptions
  /** Ends what is under way. */
  readonly ending: AbortController
  /** Shapes the whole answer, where nothing is left to be sent later. */
  answer(errors: readonly GraphQLError[]): ExecutionResult
  /** Called once, when nothing is under way any more. */
  over(): void
}

/** What the engine does alike for every operation. */
export interface Running {
  runOf(ready: Ready, signal?: AbortSignal): Run
  answer(ready: Ready, run: Run, errors: readonly GraphQLError[]): ExecutionResult
  /** Called when nothing is under way any more. */
  over(): void
  /** Adds data that precedes the plan: the event of a subscription. */
  begin?(run: Run): void
  /** Ends what is under way, with all that it holds. @default the request's signal, and the end of the answer */
  readonly ending?: AbortController | undefined
}

/** Whether a variable asks for a negative number of first elements of a streamed list. */
export const isNegative = ({ variant, variables }: Ready): boolean => variant.plan.streams.some(({ stream }) => firstOf(stream, variables) === undefined)

/** Refusal of an operation for which `isNegative` holds. */
export const refusedNegative = () => refused('BAD_USER_INPUT', 'The initialCount of @stream is negative: send 0 or more.')

/** Begins an operation with deferred fragments or streamed lists. @returns once its first payload is ready */
export async function beginIncrementally(ready: Ready, options: NativeOptions, running: Running): Promise<ExecutionResult | IncrementalAnswer> {
  const { request, variant, variables } = ready
  if (isNegative(ready)) return refusedNegative()
  const streams = variant.plan.streams.map(each => ({ ...each, first: firstOf(each.stream, variables) ?? 0 }))
  const { ending = new AbortController() } = running
  const isAlone = running.ending !== undefined || !request.signal
  const run = { ...running.runOf(ready, isAlone ? ending.signal : AbortSignal.any([request.signal!, ending.signal])), streams }
  const [incremental, form] = [variant.incremental!, request.incremental!]
  return settled(ready, run, options, async () => {
    running.begin?.(run)
    const answer = (errors: readonly GraphQLError[]) => running.answer(ready, run, errors)
    const result = await runIncrementally({ ready, incremental, run, form, options, ending, answer, over: running.over })
    if (!('next' in result)) finishWork(run.call.operation)
    return result
  })
}

/**
 * Runs the fetches of the first payload, then all others in the background.
 * @returns the whole answer where it has no part, or more parts at once than an answer may have
 * @throws TooMuch as for every operation, while the first payload is made
 */
async function runIncrementally(work: IncrementalRun): Promise<ExecutionResult | IncrementalAnswer> {
  const { ready, incremental, run, form, options } = work
  const { variant, decision, introspection } = ready
  await runPlan(run, variant.plan)
  const errors: PooledError[] = []
  for (const error of decision?.errors ?? []) pool(errors, work, errorFrom(error), null)
  for (const error of errorsOf(work, run)) pool(errors, work, error, null)
  const { data, flaws } = withElements(run, null, () => incremental.project(run.data, introspection, run.missing))
  for (const error of flawErrors(
    flaws,
    errors.map(each => each.error),
  ))
    errors.push({ error, for: null, isSent: false })
  const mostParts = options.incrementalParts ?? usualParts
  const writer = new PayloadWriter({
    form,
    run,
    ways: incremental.ways,
    deferrals: incremental.deferrals,
    answerBytes: options.answerBytes ?? mostAnswerBytes,
    mostParts,
    errors,
  })
  const root = data && { data: run.data, sent: data, path: [], shape: variant.shape.common, type: variant.shape }
  const fits = root === null || writer.announce(root)
  if (!fits) {
    const all = begin(work, errors, () => {})
    await all.every
    if (all.failure) throw all.failure
    return work.answer(errors.map(({ error }) => error))
  }
  if (writer.open.length === 0) return { data, ...erring(errors), ...adding(work, data, 0), [caching]: run.call.operation.caching?.told(false) }
  writer.count(data)
  const told = errors.filter(each => each.for === null)
  for (const each of told) each.isSent = true
  const first = { data, ...erring(told), ...writer.take(), hasNext: true }
  return answerLater(work, writer, errors, first)
}

/** The deferred fetches under way. */
interface UnderWay {
  /** Positions of those that have ended. */
  readonly ended: ReadonlySet<number>
  readonly every: Promise<unknown>
  /** Why the operation ended early. */
  readonly failure: unknown
}

/** Begins all deferred fetches, each as soon as those have ended that it depends on. @param changed called when one has ended */
function begin(work: IncrementalRun, errors: PooledError[], changed: () => void): UnderWay {
  const { run, ready } = work
  const ended = new Set<number>()
  let failure: unknown
  const under: Promise<void>[] = []
  for (const [at, { step, for: deferrals, after }] of ready.variant.plan.deferred.entries()) {
    const fetch = async () => {
      await Promise.all(after.map(earlier => under[earlier]))
      if (failure !== undefined) return
      const own: Run = { ...run, failures: [] }
      try {
        await runDeferred(own, step)
        for (const error of errorsOf(work, own)) pool(errors, work, error, deferrals)
      } catch (cause) {
        failure ??= cause
      }
      ended.add(at)
      changed()
    }
    under.push(fetch())
  }
  return {
    ended,
    every: Promise.all(under),
    get failure() {
      return failure
    },
  }
}

function answerLater(work: IncrementalRun, writer: PayloadWriter, errors: PooledError[], first: Payload & ExecutionResult): IncrementalAnswer {
  const { incremental, ready, run, form, ending } = work
  let changed = Promise.withResolvers<void>()
  const wake = () => changed.resolve()
  let cutBy: GraphQLError | null = null
  let isFirst = true
  let isOver = false
  let under: UnderWay | null = null
  const steps = ready.variant.plan.deferred
  const waits = new Map(incremental.deferrals.map(each => [each, steps.flatMap((step, at) => (step.for.some(outer => isWithin(each, outer)) ? [at] : []))]))
  const isReady = ({ deferral, isWhole }: OpenPart): boolean =>
    isWhole ? under!.ended.size === steps.length : waits.get(deferral)!.every(at => under!.ended.has(at))
  const { signal } = run.call
  signal?.addEventListener('abort', wake, { once: true })

  return { form, next, return: leave, cut, ending: () => writer.ending(), [caching]: run.call.operation.caching?.told(false) }

  async function next(): Promise<IteratorResult<Payload, undefined>> {
    if (isOver || signal?.aborted) return leave()
    if (isFirst) {
      isFirst = false
      // The first payload is on its way before the others compete with it.
      under = begin(work, errors, wake)
      return { value: first, done: false }
    }
    for (;;) {
      const because = cutBy ?? failureOf(work, under!.failure)
      if (because) return last(because)
      if (writer.open.some(isReady)) break
      await changed.promise
      changed = Promise.withResolvers<void>()
      if (isOver || signal?.aborted) return leave()
    }
    try {
      for (let part = writer.open.find(isReady); part; part = writer.open.find(isReady)) writer.deliver(part)
    } catch (cause) {
      return last(failureOf(work, cause)!)
    }
    if (writer.open.length === 0) return last(null)
    return { value: { ...writer.take(), hasNext: true }, done: false }
  }

  /** Makes the last payload. @param because fails all parts that are open */
  function last(because: GraphQLError | null): IteratorResult<Payload, undefined> {
    if (because) for (const part of [...writer.open]) writer.fail(part, [{ error: because, for: null, isSent: false }])
    const payload = { ...writer.take(), hasNext: false, ...adding(work, first.data ?? null, writer.parts) }
    const rest = because ? [] : errors.filter(({ isSent }) => !isSent).map(({ error }) => error)
    end()
    return { value: withErrors(payload, rest), done: false }
  }

  async function leave(): Promise<IteratorResult<Payload, undefined>> {
    end()
    return { value: undefined, done: true }
  }

  function end(): void {
    if (isOver) return
    isOver = true
    signal?.removeEventListener('abort', wake)
    const isComplete = under !== null && under.ended.size === steps.length && under.failure === undefined
    if (isComplete) finishWork(run.call.operation)
    else abandon(run.call.operation)
    ending.abort()
    wake()
    work.over()
  }

  function cut(error: GraphQLError): void {
    cutBy ??= error
    wake()
  }
}

/** Adds errors that belong to no part that was sent, such as those of parts that were never announced, to the last part. */
function withErrors(payload: Payload, errors: readonly GraphQLError[]): Payload {
  if (errors.length === 0) return payload
  const entry = payload.incremental?.at(-1)
  const all = [...(entry?.errors ?? []), ...errors]
  if (entry) return { ...payload, incremental: [...payload.incremental!.slice(0, -1), { ...entry, errors: all }] }
  const done = payload.completed?.at(-1)
  // A part without data of its own has its errors beside empty data: errors of a completed part mean that it failed.
  return done ? { ...payload, incremental: [{ id: done.id, data: {}, errors: all }] } : payload
}

/** Converts the failures of a run to errors for the client. */
function errorsOf({ ready: { variant, request }, options }: IncrementalRun, { failures, data }: Run): GraphQLError[] {
  const reader: ErrorReader = {
    log: options.log,
    requestId: request.requestId,
    exposeInternalErrors: options.exposeInternalErrors ?? false,
    explain: options.hooks?.explain,
  }
  return clientErrors(failures, variant.shape, data, reader)
}

/** Adds an error to those of the operation, for the parts that show the value at its path, or else that waited for its fetch. */
function pool(errors: PooledError[], { ready: { variant }, run }: IncrementalRun, error: GraphQLError, waited: readonly Deferral[] | null): void {
  const at = error.path ? bringersAt(variant.shape, run.data, error.path, stream => run.streams?.find(each => each.stream === stream)?.first ?? 0) : null
  const both = at && waited ? at.filter(each => waited.some(other => isWithin(each, other))) : []
  errors.push({ error, for: both.length > 0 ? both : (at ?? waited), isSent: false })
}

/** Why all parts that are open fail; null where the operation goes on. */
function failureOf({ options, ready: { request } }: IncrementalRun, cause: unknown): GraphQLError | null {
  if (cause === undefined) return null
  if (cause instanceof TooMuch) return errorFor(cause.code, cause.message, undefined, cause.extensions)
  options.log.error({ requestId: request.requestId, err: cause }, 'answer could not be assembled')
  return errorFor('INTERNAL_SERVER_ERROR', options.exposeInternalErrors ? String(cause) : 'Internal server error')
}

const erring = (errors: readonly PooledError[]) => (errors.length > 0 ? { errors: errors.map(({ error }) => error) } : {})

function adding({ ready, run, options }: IncrementalRun, data: ExecutionResult['data'] | null, parts: number) {
  const extensions = asideOf(ready, run, data ?? null, options, parts)
  return extensions ? { extensions } : {}
}
