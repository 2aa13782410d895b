import { createHash } from 'node:crypto'
import {
  type DocumentNode,
  type ExecutionResult,
  execute as executeSchema,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  print,
  type SelectionNode,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import { codeOf } from '../../../platform/errors.ts'
import type { AccessDecision } from '../../access/decision.ts'
import { mostAnswerBytes } from '../data/bytes.ts'
import type { Data } from '../data/merge.ts'
import type { Engine, EngineOptions, OperationRequest, ResultStream } from '../engine.ts'
import { errorFor, errorFrom, TooMuch } from '../errors.ts'
import { type CompiledPlan, compilePlans } from '../execute/compile.ts'
import { type Run, runPlan, takeAnswer, variablesFor } from '../execute/execute.ts'
import { conditionVariables, findOperation, foldConditions, type Operation } from '../operation/operation.ts'
import { coerceVariables } from '../operation/variables.ts'
import { createPlanner } from '../plan/planner.ts'
import { createNames } from '../repairs/hive-response-keys/names.ts'
import { clientErrors, type ErrorReader, flawErrors } from '../shape/errors.ts'
import { createProjector, type Projector } from '../shape/projector.ts'
import { type Shape, shapeOf } from '../shape/shape.ts'
import { readSupergraph } from '../supergraph.ts'
import { meterLists, workWith } from '../transport/lists.ts'
import { mapStream } from '../transport/stream.ts'
import { abandon, finish as finishWork, Work } from '../work.ts'

/** How many plans one operation may have: one for each combination of conditions and access verdict that was met. */
const mostVariants = 32

/** Bytes that everything that is made of operations may take, roughly: of a thousand operations of the usual size, a third. */
const mostPreparedBytes = 96 * 1024 * 1024
/** What a plan of an operation takes with its shape and code: at least, and for each character of the operation, as measured with Node 26. */
const variantBytes = 20_000
const bytesPerCharacter = 50

/** An operation of a document, with what was made of it so far. */
interface Prepared {
  readonly document: DocumentNode
  /** Of its text, printed. */
  readonly characters: number
  readonly operation: Operation
  readonly conditions: readonly string[] | null
  readonly folded: LRUCache<string, DocumentNode>
  readonly variants: LRUCache<string, Promise<Variant>>
}

/** An operation made ready to run for one combination of conditions and one access verdict. */
interface Variant {
  readonly plan: CompiledPlan
  readonly shape: Shape
  readonly project: Projector
  readonly introspection: DocumentNode | null
}

/** What is kept of an operation, and under which key. */
interface Found {
  readonly prepared: Prepared
  readonly text: string
}

/** A request that may run. */
interface Ready {
  readonly request: OperationRequest
  readonly variant: Variant
  readonly variables: Readonly<Record<string, unknown>>
  readonly decision: AccessDecision | null
  readonly introspection: Data
}

/**
 * The platform's own executor: plans an operation once, runs the plan over the transport, and shapes the answer as
 * graphql-js would. Throws at once for a supergraph that cannot be read.
 */
export function createEngine(options: EngineOptions): Engine {
  const { transport, access, log, operationTimeoutMs = 30_000, answerBytes = mostAnswerBytes, now = () => performance.now() } = options
  const { supergraphSdl: given, planCacheSize = 1000, planCacheBytes = mostPreparedBytes } = options
  const supergraph = typeof given === 'string' ? readSupergraph(given) : given
  const { schema } = supergraph
  // For introspection, which is answered here.
  meterLists(schema)
  const planner = createPlanner(supergraph)
  /** The keys of a document's operations in `byText`: were they themselves kept here, they would live for as long as their documents. */
  const keys = new WeakMap<DocumentNode, Map<string, string>>()
  const byText = new LRUCache<string, Prepared>({
    max: planCacheSize,
    maxSize: planCacheBytes,
    sizeCalculation: ({ characters, variants, folded }) =>
      Math.min(planCacheBytes, Math.max(variants.size, folded.size, 1) * (variantBytes + characters * bytesPerCharacter)),
  })

  return {
    schema,
    async execute(request) {
      return untilAborted(request, async () => {
        const ready = await prepare(request)
        if ('errors' in ready) return ready
        if (ready.variant.plan.primary) return refused('BAD_USER_INPUT', 'A subscription yields many results; send it over WebSocket or server-sent events.')
        return finish(ready, runOf(ready))
      })
    },
    async subscribe(request) {
      const ready = await prepare(request)
      if ('errors' in ready) return ready
      const { plan } = ready.variant
      if (!plan.primary) return startRefusal(ready)
      const { primary } = plan
      const run = runOf(ready)
      let source: ResultStream | ExecutionResult
      try {
        source = await transport.subscribe(primary.fetch, {
          ...run.call,
          variables: variablesFor(run, primary.variables),
          eventMs: operationTimeoutMs,
          inTurn: request.inTurn,
        })
      } catch (cause) {
        run.failures.push(failureOf(primary.fetch.subgraph, cause))
        return answer(ready, run)
      }
      if (!(Symbol.asyncIterator in source)) {
        takeAnswer(run, primary, source)
        return answer(ready, run)
      }
      const { signal, inTurn } = request
      const events = source[Symbol.asyncIterator]()
      const ending = new AbortController()
      const stream = mapStream(
        events,
        event => {
          const work = () => finish(ready, runOf(ready, ending.signal), eventRun => takeAnswer(eventRun, primary, event))
          return inTurn ? inTurn(work) : work()
        },
        cause => {
          const failedRun = runOf(ready)
          failedRun.failures.push(failureOf(primary.fetch.subgraph, cause))
          return answer(ready, failedRun)
        },
        () => {
          signal?.removeEventListener('abort', stop)
          ending.abort()
        },
      )
      const stop = () => void stream.return()
      signal?.addEventListener('abort', stop)
      if (signal?.aborted) stop()
      return stream
    },
    async warm(operations, viewer) {
      for (const document of operations) {
        const found = prepareDocument(document, undefined)
        if (typeof found === 'string') continue
        // As it is asked by who says nothing of its conditions.
        const { conditions, operation } = found.prepared
        const bits = conditions?.map(name => (isTrueByDefault(operation, name) ? '1' : '0')).join('') ?? ''
        const folded = foldedDocument(found.prepared, bits)
        const decision = access?.filter(folded, undefined, viewer) ?? null
        if (!decision?.refusedWhole) await variantOf(found, folded, decision, bits, { requestId: 'warm-up', operationName: undefined }).catch(() => {})
      }
    },
  }

  /** Everything before the first fetch; a result says why the operation does not run. */
  async function prepare(request: OperationRequest): Promise<Ready | (ExecutionResult & { errors: readonly GraphQLError[] })> {
    const found = prepareDocument(request.document, request.operationName)
    if (typeof found === 'string') return refused('BAD_USER_INPUT', found)
    const { prepared } = found
    const { definition } = prepared.operation
    const coerced = coerceVariables(schema, definition.variableDefinitions ?? [], request.variables)
    if (coerced.errors) return { errors: coerced.errors }
    const variables = coerced.coerced
    const bits = prepared.conditions?.map(name => (variables[name] === true ? '1' : '0')).join('') ?? ''
    const document = foldedDocument(prepared, bits)
    const decision = access?.filter(document, request.operationName, request.viewer) ?? null
    if (decision?.refusedWhole) return { data: null, errors: decision.errors.map(errorFrom) }
    const variant = variantOf(found, document, decision, bits, request)
    try {
      const made = await variant
      const introspection = made.introspection ? await introspect(schema, made.introspection, request, now) : noData
      return { request, variant: made, variables, decision, introspection }
    } catch (cause) {
      const code = codeOf(cause)
      if (cause instanceof TooMuch) return { data: null, errors: [errorFor(code, cause.message)] }
      return code === 'INTERNAL_SERVER_ERROR' ? accident(cause) : refused(code, (cause as Error).message)
    }
  }

  /** The plan for one combination of conditions and one verdict, made when it is needed for the first time. */
  function variantOf(
    { prepared, text }: Found,
    document: DocumentNode,
    decision: AccessDecision | null,
    bits: string,
    { requestId, operationName }: Pick<OperationRequest, 'requestId' | 'operationName'>,
  ): Promise<Variant> {
    const key = `${bits} ${decision?.verdict ?? ''}`
    const known = prepared.variants.get(key)
    if (known) return known
    const variant = compile(document, decision ? decision.document : document, operationName)
    prepared.variants.set(key, variant)
    // Taken out first: what is put in again is weighed anew only when it is another.
    byText.delete(text)
    byText.set(text, prepared)
    variant.catch(cause => {
      // Kept, a failure that passes would stand for ever.
      prepared.variants.delete(key)
      if (codeOf(cause) === 'INTERNAL_SERVER_ERROR') log.error({ requestId, operationName, err: cause }, 'An operation could not be planned')
    })
    return variant
  }

  function prepareDocument(document: DocumentNode, operationName: string | undefined): Found | string {
    // An empty name is a name, though none that any operation has.
    const name = operationName === undefined ? '' : `:${operationName}`
    const known = keys.get(document)?.get(name)
    let prepared = known === undefined ? undefined : byText.get(known)
    if (known !== undefined && prepared) return { prepared, text: known }
    const printed = print(document)
    const text = createHash('sha256').update(`${name}\n${printed}`).digest('base64')
    prepared = byText.get(text)
    if (!prepared) {
      const operation = findOperation(document, operationName)
      if (typeof operation === 'string') return operation
      const folded = new LRUCache<string, DocumentNode>({ max: mostVariants })
      const variants = new LRUCache<string, Promise<Variant>>({ max: mostVariants })
      prepared = { document, characters: printed.length, operation, conditions: conditionVariables(document), folded, variants }
      byText.set(text, prepared)
    }
    const ofDocument = keys.get(document) ?? new Map<string, string>()
    keys.set(document, ofDocument.set(name, text))
    return { prepared, text }
  }

  function foldedDocument(prepared: Prepared, bits: string): DocumentNode {
    const { conditions, document } = prepared
    if (!conditions) return document
    let folded = prepared.folded.get(bits)
    if (!folded) {
      folded = foldConditions(document, variable => bits[conditions.indexOf(variable)] === '1')
      prepared.folded.set(bits, folded)
    }
    return folded
  }

  async function compile(document: DocumentNode, allowedDocument: DocumentNode | null, operationName: string | undefined): Promise<Variant> {
    const asked = findOperation(document, operationName) as Operation
    const allowed = allowedDocument === document ? asked : allowedDocument && findOperation(allowedDocument, operationName)
    const remaining = typeof allowed === 'string' ? null : allowed
    const rootType = schema.getRootType(asked.definition.operation)!
    const names = createNames(supergraph)
    const plan = compilePlans(remaining ? await planner.plan(remaining, names) : [], supergraph)
    const shape = shapeOf(asked, remaining, rootType, names, schema)
    return { plan, shape, project: createProjector(shape, answerBytes), introspection: introspectionOf(document, asked, shape) }
  }

  /** @param signal aborts when nobody waits for it any more */
  function runOf(ready: Ready, signal = ready.request.signal): Run {
    const { viewer, requestId, headers, browser } = ready.request
    const deadline = now() + operationTimeoutMs
    const call = { viewer, requestId, headers, browser, signal, deadline, operation: new Work(requestId, signal, deadline, now) }
    return { transport, supergraph, variables: ready.variables, call, data: {}, failures: [], met: new Map(), gone: new Map() }
  }

  /**
   * Runs the plan and shapes its answer. An accident in that, e.g. lists deeper than the stack, costs this one answer.
   * @param begin puts into the run what is there before the plan: the event of a subscription
   */
  async function finish(ready: Ready, run: Run, begin?: (run: Run) => void): Promise<ExecutionResult> {
    try {
      begin?.(run)
      await runPlan(run, ready.variant.plan)
      finishWork(run.call.operation)
      return answer(ready, run)
    } catch (cause) {
      abandon(run.call.operation)
      if (cause instanceof TooMuch) return { data: null, errors: [errorFor('BAD_USER_INPUT', cause.message)] }
      log.error({ requestId: ready.request.requestId, err: cause }, 'An answer could not be put together')
      return accident(cause)
    }
  }

  function accident(cause: unknown) {
    return { data: null, errors: [errorFor('INTERNAL_SERVER_ERROR', options.exposeInternalErrors ? String(cause) : 'Internal server error')] }
  }

  function answer(ready: Ready, run: Run): ExecutionResult & { errors?: readonly GraphQLError[] } {
    const { variant, decision, introspection, request } = ready
    const errors = decision ? decision.errors.map(errorFrom) : []
    const reader: ErrorReader = { log, requestId: request.requestId, exposeInternalErrors: options.exposeInternalErrors ?? false }
    errors.push(...clientErrors(run.failures, variant.shape, run.data, reader))
    const { data, flaws } = variant.project(run.data, introspection, run.gone)
    if (flaws.length > 0) errors.push(...flawErrors(flaws, errors))
    return errors.length > 0 ? { data, errors } : { data }
  }

  /** A subscription of which nothing is left to plan: refused, folded away, or no subscription at all. */
  function startRefusal(ready: Ready): ExecutionResult {
    if (ready.decision && ready.decision.errors.length > 0) return answer(ready, runOf(ready))
    return refused('BAD_USER_INPUT', 'Nothing is left to subscribe to; send a subscription with a field that is not skipped.')
  }
}

const isTrueByDefault = ({ definition }: Operation, name: string): boolean =>
  definition.variableDefinitions?.some(
    ({ variable, defaultValue }) => variable.name.value === name && defaultValue?.kind === Kind.BOOLEAN && defaultValue.value,
  ) ?? false

const failureOf = (subgraph: string, cause: unknown) => ({ subgraph, error: null, cause, places: [], renames: new Map<string, string>() })

const refused = (...words: Parameters<typeof errorFor>): { errors: GraphQLError[] } => ({ errors: [errorFor(...words)] })

/** The root fields about the schema itself, with all fragments: graphql-js answers them. */
function introspectionOf(document: DocumentNode, { definition }: Operation, shape: Shape): DocumentNode | null {
  const selections: SelectionNode[] = shape.common.fields.flatMap(field => (field.from === 'introspection' ? field.nodes : []))
  if (selections.length === 0) return null
  const fragments = document.definitions.filter(candidate => candidate.kind === Kind.FRAGMENT_DEFINITION)
  return { kind: Kind.DOCUMENT, definitions: [{ ...definition, selectionSet: { kind: Kind.SELECTION_SET, selections } }, ...fragments] }
}

const noData: Readonly<Data> = {}

async function introspect(schema: GraphQLSchema, document: DocumentNode, { variables, requestId, signal }: OperationRequest, now: () => number): Promise<Data> {
  const work = new Work(requestId, signal, undefined, now)
  const { data } = await executeSchema({ schema, document, variableValues: variables, contextValue: workWith({}, work) })
  if (work.ended instanceof TooMuch) throw work.ended
  return data ?? {}
}

/** Settles as soon as the caller leaves; what runs then finishes on its own, and starts nothing more. */
function untilAborted(request: OperationRequest, work: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
  const { signal } = request
  if (!signal) return work()
  return new Promise((resolve, reject) => {
    const leave = () => {
      const code = codeOf(signal.reason)
      resolve(
        code === 'INTERNAL_SERVER_ERROR'
          ? refused('UPSTREAM_FAILED', 'The operation was ended before it was answered.')
          : refused(code, (signal.reason as Error).message),
      )
    }
    if (signal.aborted) return leave()
    signal.addEventListener('abort', leave)
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', leave))
  })
}
