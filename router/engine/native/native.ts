import type { ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql'
import { claimOf } from '../../access/callers/claim.ts'
import {
  type Answer,
  caching,
  type Engine,
  type LiveEvent,
  type LiveStream,
  type LiveSubscription,
  type OperationRequest,
  type ResultStream,
} from '../engine.ts'
import { errorFrom } from '../errors.ts'
import { type Run, runPlan, takeAnswer, variablesFor } from '../execute/execute.ts'
import type { FetchStep } from '../execute/step.ts'
import { clientErrors, type ErrorReader, flawErrors } from '../shape/errors.ts'
import { readSupergraph, type Supergraph, withoutIncremental } from '../supergraph.ts'
import type { PromptStream } from '../transport/streams/map.ts'
import { finish as finishWork, Work, workLimits } from '../work.ts'
import { asideOf, planForLog, shownTo } from './aside.ts'
import { basisOf } from './basis.ts'
import { cachingOf } from './caching.ts'
import { streamEvents } from './events.ts'
import { inStage, type NativeOptions } from './hooks.ts'
import { beginIncrementally, isNegative, refusedNegative } from './incremental.ts'
import { settled, untilAborted } from './leaving.ts'
import { createPreparation, type Ready, refused } from './prepare.ts'
import { sharingKey } from './sharing-key.ts'

/**
 * The platform's own executor: plans an operation once, runs the plan over the transport, and shapes the answer as
 * graphql-js would. Throws at once for a supergraph that cannot be read.
 */
export function createEngine(options: NativeOptions): Engine {
  const { transport, log, operationTimeoutMs = 30_000, slowMs = Number.POSITIVE_INFINITY, now = () => performance.now(), supergraphSdl: given } = options
  const supergraph = typeof given === 'string' ? readSupergraph(given) : given
  const { prepare, warm, plans } = createPreparation(options, supergraph)
  const logIfSlow = (ready: Ready, began: number) => logSlow(log, ready, now() - began, slowMs)
  const answer = (ready: Ready, run: Run, known?: readonly GraphQLError[]) => answerOf(ready, run, options, known)

  return {
    ...clientSchemas(supergraph, options),
    warm,
    plans,
    execute: request =>
      untilAborted(request, async () => {
        const began = now()
        const ready = await prepare(request)
        if ('errors' in ready) return ready
        if (ready.variant.plan.primary) return refused('BAD_USER_INPUT', noAnswerOfStream)
        const result = await finish(ready, runOf(ready))
        logIfSlow(ready, began)
        return result
      }),
    executeIncrementally: request =>
      untilAborted(request, async () => {
        const began = now()
        const ready = await prepare(request)
        if ('errors' in ready) return ready
        if (ready.variant.plan.primary) return refused('BAD_USER_INPUT', noAnswerOfStream)
        if (!ready.variant.incremental) return finish(ready, runOf(ready))
        return beginIncrementally(ready, options, { runOf, answer, over: () => logIfSlow(ready, began) })
      }),
    prepareStream,
  }

  async function prepareStream(request: OperationRequest): Promise<LiveSubscription | ExecutionResult> {
    const ready = await prepare(request)
    if ('errors' in ready) return ready
    const { primary } = ready.variant.plan
    if (!primary) return (ready.decision?.errors.length ?? 0) > 0 ? answer(ready, runOf(ready)) : nothingLeft()
    const { key: operation, decision, variables } = ready
    const { incremental } = ready.variant
    if (incremental && isNegative(ready)) return refusedNegative()
    return {
      key: sharingKey(request, {
        operation,
        verdict: decision?.verdict ?? '',
        variables,
        sharing: ready.variant.sharing,
        passed: transport.passed ?? [],
        shown: shownTo(request, options),
        overrides: request.overrides,
        form: incremental ? request.incremental : undefined,
      }),
      operationName: ready.variant.name,
      basis: () => basisOf(ready, supergraph),
      start: (signal, inTurn) => start({ ...ready, request: { ...request, signal, inTurn } }, primary),
    }
  }

  async function start(ready: Ready, primary: FetchStep): Promise<LiveStream | ExecutionResult> {
    const { signal, inTurn } = ready.request
    const run = runOf(ready)
    let source: ResultStream | ExecutionResult
    try {
      source = await transport.subscribe(primary.fetch, { ...run.call, variables: variablesFor(run, primary.variables), eventMs: operationTimeoutMs, inTurn })
    } catch (cause) {
      run.failures.push(failureOf(primary.fetch.subgraph, cause))
      return answer(ready, run)
    }
    if (!(Symbol.asyncIterator in source)) {
      takeAnswer(run, primary, source)
      return answer(ready, run)
    }
    const events = source
    const ending = new AbortController()
    let failed = false
    const failedBy = (cause: unknown): LiveEvent => {
      failed = true
      const failedRun = runOf(ready)
      failedRun.failures.push(failureOf(primary.fetch.subgraph, cause))
      return { answer: answer(ready, failedRun), about: null }
    }
    const ended = () => {
      signal?.removeEventListener('abort', stop)
      ending.abort()
    }
    const whole = (event: ExecutionResult) => finish(ready, runOf(ready, ending.signal), run => takeAnswer(run, primary, event))
    const stream = streamEvents(events[Symbol.asyncIterator](), { ready, primary, options, runOf, answer, whole, failedBy, ended })
    const stop = () => void stream.return()
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
    return liveStream(stream, events, () => failed)
  }

  /** @param signal aborts when the last caller has left */
  function runOf(ready: Ready, signal = ready.request.signal): Run {
    const { viewer, requestId, headers, browser, claim = claimOf(viewer, '') } = ready.request
    const deadline = now() + Math.max(operationTimeoutMs, ready.variant.plan.timeoutMs)
    const operation = new Work(requestId, signal, deadline, now, options.inFlight, claim)
    if (ready.variant.changes) operation.guaranteedBytes = workLimits.mutationBytes
    if (ready.variant.caching) operation.caching = cachingOf(ready, options)
    const call = { viewer, requestId, headers, browser, signal, deadline, operation }
    return { transport, supergraph, variables: ready.variables, call, data: {}, failures: [], replayed: new Set(), found: new Map(), missing: new Map() }
  }

  /**
   * Runs the plan and shapes its answer. An unexpected error, such as lists deeper than the stack, fails this one
   * answer.
   * @param begin adds data that precedes the plan: the event of a subscription
   */
  async function finish(ready: Ready, run: Run, begin?: (run: Run) => void): Promise<Answer> {
    return settled(ready, run, options, () => inStage(options, 'execute', ready.request, () => executed(ready, run, options, begin)))
  }
}

async function executed(ready: Ready, run: Run, options: NativeOptions, begin: ((run: Run) => void) | undefined): Promise<Answer> {
  begin?.(run)
  await runPlan(run, ready.variant.plan)
  finishWork(run.call.operation)
  return inStage(options, 'shape', ready.request, () => answerOf(ready, run, options))
}

/** Puts an event stream together with what its source says of its end. */
const liveStream = ({ next, return: leave }: PromptStream<LiveEvent>, { isLost, isOver }: ResultStream, hasFailed: () => boolean): LiveStream => ({
  next: () => next(),
  return: () => leave(),
  isLost: () => hasFailed() || (isLost?.() ?? false),
  isOver: () => isOver?.() ?? false,
})

/** Returns the schemas that clients get, of the whole graph and of its variants. */
function clientSchemas({ schema, variants }: Supergraph, { incremental }: NativeOptions): Pick<Engine, 'schema' | 'variants'> {
  const clients = (whole: GraphQLSchema) => (incremental === false ? withoutIncremental(whole) : whole)
  const schemaOf = (name: string) => {
    const found = variants.schemaOf(name)
    return found && clients(found)
  }
  return { schema: clients(schema), variants: { names: variants.names, schemaOf } }
}

/** Refusal of a subscription of which nothing is left to plan: folded away, or no subscription at all. */
const nothingLeft = () => refused('BAD_USER_INPUT', 'Nothing is left to subscribe to; send a subscription with a field that is not skipped.')

/** Logs a slow operation with its plan, so that it need not be repeated to find the reason. */
function logSlow(log: NativeOptions['log'], ready: Ready, ms: number, slowMs: number): void {
  if (ms < slowMs) return
  const { request, variant } = ready
  log.warn({ requestId: request.requestId, operation: variant.name, ms: Math.round(ms), plan: planForLog(ready) }, 'slow operation')
}

/** Shapes the answer of a run that has ended. @param known its errors, where they were read already */
function answerOf(ready: Ready, run: Run, options: NativeOptions, known?: readonly GraphQLError[]): Answer & { errors?: readonly GraphQLError[] } {
  const { variant, introspection } = ready
  const errors = known ? [...known] : errorsOf(ready, run, options)
  const { data, flaws } = variant.project(run.data, introspection, run.missing)
  const flawed = flaws.length > 0 ? flawErrors(flaws, errors) : none
  const isAside = options.hooks?.flawsAside === true
  if (!isAside) errors.push(...flawed)
  const aside = asideOf(ready, run, data, options)
  const extensions = isAside && flawed.length > 0 && errors.length === 0 ? { ...aside, valueCompletion: flawed.map(flaw => flaw.toJSON()) } : aside
  const answer = { data, ...(errors.length > 0 && { errors }), ...(extensions && { extensions }) }
  const kept = run.call.operation.caching
  return kept ? { ...answer, [caching]: kept.told(data !== null && errors.length === 0) } : answer
}

function errorsOf({ variant, decision, request }: Ready, run: Run, options: NativeOptions): GraphQLError[] {
  const errors = decision ? decision.errors.map(errorFrom) : []
  const reader: ErrorReader = {
    log: options.log,
    requestId: request.requestId,
    exposeInternalErrors: options.exposeInternalErrors ?? false,
    explain: options.hooks?.explain,
  }
  errors.push(...clientErrors(run.failures, variant.shape, run.data, reader))
  return errors
}

const none: readonly GraphQLError[] = []

const noAnswerOfStream = 'A subscription yields many results; send it over WebSocket or server-sent events.'

const failureOf = (subgraph: string, cause: unknown) => ({ subgraph, error: null, cause, places: [], renames: new Map<string, string>() })
