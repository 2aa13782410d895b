import { createHash } from 'node:crypto'
import { BREAK, type DocumentNode, type ExecutionResult, type GraphQLError, print, visit } from 'graphql'
import { LRUCache } from 'lru-cache'
import { codeOf } from '../../../platform/errors.ts'
import { claimOf } from '../../access/callers/claim.ts'
import type { AccessDecision } from '../../access/decision.ts'
import { mostAnswerBytes, requireFits } from '../data/bytes.ts'
import type { Engine, EngineOptions, FetchCall, OperationRequest } from '../engine.ts'
import { errorFor, errorFrom } from '../errors.ts'
import { createPricing } from '../operation/cost/pricing.ts'
import { isIncremental } from '../operation/deferral.ts'
import { conditionVariables, findOperation, foldConditions, type Operation } from '../operation/operation.ts'
import { patienceOf } from '../operation/patience.ts'
import { coerceVariables } from '../operation/variables.ts'
import { readSupergraph, type Supergraph, withoutIncremental } from '../supergraph.ts'
import { finish, Work } from '../work.ts'
import { reshape, withTypes } from './reshape.ts'
import { createSource } from './source.ts'

/** A document with the operation name and the values of its conditions that a request chose. */
interface Asked {
  readonly operation: Operation
  readonly conditions: readonly string[] | null
}

/** Maximum number of folded forms (without `@skip` and `@include`) cached for one document. */
const mostFoldings = 32

/**
 * Opens the stock Apollo Gateway (@apollo/gateway) behind the same port, transport and access filter as our own
 * executor, for comparison with it. It runs queries and mutations and rejects subscriptions. A document of which access
 * rejects nothing reaches it as the client wrote it, so that its answers are its own.
 * @throws Error for a supergraph that it cannot load
 */
export async function openApolloEngine(options: EngineOptions): Promise<Engine> {
  const { transport, access, log, operationTimeoutMs = 30_000, answerBytes = mostAnswerBytes, now = () => performance.now() } = options
  const supergraph = typeof options.supergraphSdl === 'string' ? readSupergraph(options.supergraphSdl) : options.supergraphSdl
  const schema = options.incremental === false ? withoutIncremental(supergraph.schema) : supergraph.schema
  // biome-ignore lint/style/noProcessEnv: written, not read: the only way to keep the gateway from reporting to its maker
  process.env.APOLLO_TELEMETRY_DISABLED = 'true'
  const { ApolloGateway } = await import('@apollo/gateway')
  const quiet = { debug() {}, info() {}, warn: log.warn.bind(log), error: log.error.bind(log) }
  const gateway = new ApolloGateway({
    supergraphSdl: supergraph.stripped(),
    buildService: ({ name }) => createSource(transport, name, supergraph),
    logger: quiet,
    __exposeQueryPlanExperimental: false,
  })
  const { executor } = await gateway.load()
  const pricing = createPricing(supergraph, options.maxCost)
  const guardedKeys = access ? guardedKeysOf(supergraph) : new Set<string>()
  const { askedOf, foldedDocument } = createDocuments()
  const typed = new WeakMap<DocumentNode, ReturnType<typeof withTypes>>()
  const hashes = new WeakMap<DocumentNode, string>()

  return {
    schema,
    async execute(asked) {
      const request = { ...asked, document: undeferred(asked.document) }
      const found = askedOf(request)
      if (typeof found === 'string') return refused('BAD_USER_INPUT', found)
      const { definition } = found.operation
      if (definition.operation === 'subscription') return refused('BAD_USER_INPUT', noSubscriptions)
      const coerced = coerceVariables(schema, definition.variableDefinitions ?? [], request.variables)
      if (coerced.errors) return { errors: coerced.errors }
      const folded = foldedDocument(request.document, found.conditions, coerced.coerced)
      const decision = access?.filter(folded, request.operationName, request.viewer) ?? null
      const refusals = decision ? decision.errors.map(errorFrom) : []
      if (decision?.refusedWhole) return { data: null, errors: refusals }
      const allowed = decision ? decision.document : folded
      if (pricing && allowed && !request.isOurs && pricing.estimate(allowed, request.operationName, coerced.coerced) > pricing.max)
        return { data: null, errors: [pricing.refusal(allowed, request.operationName, coerced.coerced)] }
      const alias = guardedKeys.size > 0 ? aliasAmong(request.document, guardedKeys) : undefined
      if (alias !== undefined)
        return refused(
          'BAD_USER_INPUT',
          `This router runs the stock gateway (ROUTER_ENGINE=apollo), which confuses the alias "${alias}" with a guarded key; choose another one.`,
        )
      if (!decision || decision.document === folded) return ask(request, request.document)
      return remainder(request, folded, decision, refusals)
    },
    async prepareStream() {
      return refused('BAD_USER_INPUT', noSubscriptions)
    },
    // The gateway caches its plans itself.
    async warm() {},
  }

  /**
   * Answers the part of an operation that its viewer may read, in the form that the client requested, with null for
   * every rejected field.
   */
  async function remainder(request: OperationRequest, folded: DocumentNode, decision: AccessDecision, refusals: GraphQLError[]): Promise<ExecutionResult> {
    const { document } = decision
    if (!document) return { data: await reshape(schema, folded, request, {}, ''), errors: refusals }
    let marked = typed.get(document)
    if (!marked) {
      marked = withTypes(document, schema)
      typed.set(document, marked)
    }
    const { data, errors = [] } = await ask(request, marked.document)
    if (!data) return { ...(data !== undefined && { data }), errors: [...refusals, ...errors] }
    return { data: await reshape(schema, folded, request, data, marked.typeKey), errors: [...refusals, ...errors] }
  }

  async function ask(request: OperationRequest, document: DocumentNode): Promise<ExecutionResult> {
    const { viewer, requestId, headers, browser, signal, operationName, variables = {}, claim = claimOf(viewer, '') } = request
    const found = findOperation(document, operationName)
    const timeoutMs = typeof found === 'string' ? 0 : patienceOf(found, supergraph)
    const deadline = now() + Math.max(operationTimeoutMs, timeoutMs)
    const operation = new Work(requestId, signal, deadline, now, options.inFlight, claim)
    const call: Omit<FetchCall, 'variables'> = { viewer, requestId, headers, browser, signal, deadline, operation }
    const source = print(document)
    let queryHash = hashes.get(document)
    if (!queryHash) {
      queryHash = createHash('sha256').update(source).digest('hex')
      hashes.set(document, queryHash)
    }
    try {
      const result = await executor({
        request: { query: source, variables: { ...variables }, ...(operationName !== undefined && { operationName }) },
        document,
        queryHash,
        source,
        operationName: operationName ?? null,
        context: { call },
        logger: quiet,
        metrics: {},
        // The gateway reads only these members of Apollo Server's request context.
      } as unknown as Parameters<typeof executor>[0])
      const { data, errors } = result as ExecutionResult
      requireFits(data, answerBytes)
      return { ...(data !== undefined && { data }), ...(errors && { errors: errors.map(error => masked(error, request)) }) }
    } catch (cause) {
      return { data: null, errors: [masked(cause, request)] }
    } finally {
      finish(operation)
    }
  }

  /** Converts an error of the gateway to one of ours: known codes are passed on, other errors are logged. */
  function masked(cause: unknown, { requestId }: OperationRequest): GraphQLError {
    const { message, path, extensions } = cause as GraphQLError
    const { serviceName, stacktrace: _stacktrace, code: _code, ...details } = extensions ?? {}
    const service = serviceName === undefined ? {} : { service: serviceName }
    const code = codeOf(cause)
    if (code !== 'INTERNAL_SERVER_ERROR') return errorFor(code, message, path, { ...details, ...service })
    log.error({ requestId, path, err: (cause as GraphQLError).originalError ?? cause, ...service }, 'field failed')
    return errorFor(code, options.exposeInternalErrors ? String(message) : 'Internal server error', path, service)
  }
}

/** Finds operations in documents, and folds their conditions; both are remembered as long as the document. */
function createDocuments() {
  const asked = new WeakMap<DocumentNode, Map<string, Asked>>()
  const foldings = new WeakMap<DocumentNode, LRUCache<string, DocumentNode>>()

  function askedOf({ document, operationName }: OperationRequest): Asked | string {
    const name = operationName ?? ''
    const known = asked.get(document)?.get(name)
    if (known) return known
    const operation = findOperation(document, operationName)
    if (typeof operation === 'string') return operation
    const made = { operation, conditions: conditionVariables(document) }
    const ofDocument = asked.get(document) ?? new Map<string, Asked>()
    asked.set(document, ofDocument.set(name, made))
    return made
  }

  function foldedDocument(document: DocumentNode, conditions: readonly string[] | null, variables: Readonly<Record<string, unknown>>): DocumentNode {
    if (!conditions) return document
    const kept = foldings.get(document) ?? new LRUCache<string, DocumentNode>({ max: mostFoldings })
    foldings.set(document, kept)
    const bits = conditions.map(name => (variables[name] === true ? '1' : '0')).join('')
    const folded = kept.get(bits) ?? foldConditions(document, variable => variables[variable] === true)
    kept.set(bits, folded)
    return folded
  }

  return { askedOf, foldedDocument }
}

/** Names of key fields that subgraphs receive from each other and that not every viewer may read. */
function guardedKeysOf({ sdl, access }: Supergraph): ReadonlySet<string> {
  const guarded = new Set<string>()
  for (const fields of access.fields.values()) for (const [name, { all }] of fields) if (all.length > 0) guarded.add(name)
  const names = new Set([...sdl.matchAll(/\b(?:key|requires): "([^"]*)"/g)].flatMap(([, fields]) => fields!.match(/\w+/g) ?? []))
  return new Set([...names].filter(name => guarded.has(name)))
}

const withoutDefers = new WeakMap<DocumentNode, DocumentNode>()

/** Returns a document without `@defer`, which the stock gateway does not know: everything is answered at once. */
function undeferred(document: DocumentNode): DocumentNode {
  let known = withoutDefers.get(document)
  if (!known) {
    known = visit(document, { Directive: node => (isIncremental(node) ? null : undefined) })
    withoutDefers.set(document, known)
  }
  return known
}

/** Returns the first alias that equals one of these names: its value could replace the key of the entity. */
function aliasAmong(document: DocumentNode, names: ReadonlySet<string>): string | undefined {
  let found: string | undefined
  visit(document, {
    Field(node) {
      const alias = node.alias?.value
      if (alias === undefined || alias === node.name.value || !names.has(alias)) return undefined
      found = alias
      return BREAK
    },
  })
  return found
}

const noSubscriptions = 'This router runs the stock gateway (ROUTER_ENGINE=apollo), which has no subscriptions; ask with a query instead.'

const refused = (...words: Parameters<typeof errorFor>): ExecutionResult => ({ errors: [errorFor(...words)] })
