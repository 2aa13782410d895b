import { createHash } from 'node:crypto'
import { type DocumentNode, type ExecutionResult, type GraphQLError, type GraphQLSchema, Kind, print } from 'graphql'
import { LRUCache } from 'lru-cache'
import { traced } from '../../../platform/caller/trace.ts'
import { codeOf } from '../../../platform/errors.ts'
import type { AccessDecision } from '../../access/decision.ts'
import type { Sharing } from '../../access/sharing.ts'
import { mostAnswerBytes } from '../data/bytes.ts'
import type { Data } from '../data/merge.ts'
import type { Engine, OperationRequest } from '../engine.ts'
import { errorFor, errorFrom, TooMuch, tooMuchResult } from '../errors.ts'
import { compilePlans } from '../execute/compile.ts'
import { readNeeds } from '../execute/needs.ts'
import type { CompiledPlan } from '../execute/step.ts'
import type { OperationCaching } from '../graph/keeping.ts'
import { keepingOf } from '../operation/caching.ts'
import { createPricing } from '../operation/cost/pricing.ts'
import { createDeferrals, type Deferral, type Deferrals, deferVariables } from '../operation/deferral.ts'
import type { Names } from '../operation/names.ts'
import { conditionVariables, findOperation, foldConditions, type Operation } from '../operation/operation.ts'
import type { ActiveOverrides } from '../operation/overrides/labels.ts'
import { sharingOf } from '../operation/sharing.ts'
import { coerceVariables } from '../operation/variables.ts'
import { type Askers, createAskers } from '../plan/plan-text.ts'
import { createPlanner } from '../plan/planner.ts'
import { createNames } from '../repairs/hive-response-keys/names.ts'
import { type Ways, waysTo } from '../shape/parts.ts'
import { createProjector, type Projector } from '../shape/projector.ts'
import { type Shape, shapeOf } from '../shape/shape.ts'
import { createView, isImmediate } from '../shape/view.ts'
import type { Supergraph } from '../supergraph.ts'
import { inStage, type NativeOptions } from './hooks.ts'
import { introspect, introspectionOf } from './introspection.ts'

/**
 * Maximum number of plans of one operation: one for each combination of conditions, access verdict and active labels
 * that occurred.
 */
const mostVariants = 32

/** Approximate maximum bytes of all prepared operations: enough for three thousand of the usual size. */
const mostPreparedBytes = 96 * 1024 * 1024
/**
 * Bytes of a plan with its shape and code: a fixed part, and a part for each character of the operation, as measured
 * with Node 26.
 */
const variantBytes = 20_000
const bytesPerCharacter = 50

/** An operation of a document with all cached preparations. */
interface Prepared {
  readonly document: DocumentNode
  /** The schema that its clients know: of the whole graph, or of a variant. */
  readonly schema: GraphQLSchema
  /** Characters of its printed text. */
  readonly characters: number
  readonly operation: Operation
  readonly conditions: readonly string[] | null
  /** Variables that decide on `@defer`; null where the document does not use it. */
  readonly deferring: readonly string[] | null
  readonly folded: LRUCache<string, DocumentNode>
  readonly variants: LRUCache<string, Promise<Variant>>
}

/** An operation made ready to run for one combination of conditions and one access verdict. */
interface Variant {
  readonly plan: CompiledPlan
  readonly shape: Shape
  readonly project: Projector
  readonly introspection: DocumentNode | null
  /** What the payloads of an incremental answer need; null where nothing is deferred. */
  readonly incremental: Incremental | null
  /** How long the answer may be kept; null where it never may, and no cache has to be asked. */
  readonly caching: OperationCaching | null
  /** Whether it is a mutation. */
  readonly changes: boolean
  /** As in `Names`. @default no hook asks for them */
  readonly clientKeys?: Names['clientKeys']
  /** For a subscription, which viewers receive the same answers; null where each viewer needs a stream of their own. */
  readonly sharing: Sharing | null
  /** Name of the operation; null without one. */
  readonly name: string | null
}

/** The division of an operation's answer into payloads. */
export interface Incremental {
  /** Projects the first payload. */
  readonly project: Projector
  readonly ways: Ways
  readonly deferrals: readonly Deferral[]
}

/** What a plan depends on besides its operation, and who waits for it. */
interface Planning {
  /** The part of the document that its caller may ask; null: nothing of it. */
  readonly permitted: DocumentNode | null
  readonly askers: Askers
  /** Labels of progressive overrides that are active. */
  readonly active: readonly string[] | undefined
}

/** The cache entry of an operation, and its key. */
interface Found {
  readonly prepared: Prepared
  readonly text: string
}

/** A request that may run. */
export interface Ready {
  readonly request: OperationRequest
  /** Key of the operation and its conditions: equal for equal ones. */
  readonly key: string
  readonly variant: Variant
  readonly variables: Readonly<Record<string, unknown>>
  readonly decision: AccessDecision | null
  readonly introspection: Data
  /** Estimated cost of the operation; null where costs are not counted. */
  readonly estimated: number | null
}

/** Result for a request that is rejected before it runs. */
export type Refused = ExecutionResult & { readonly errors: readonly GraphQLError[] }

/** Prepares requests and caches the preparation of their operations. */
export interface Preparation {
  /**
   * Does everything that precedes the first fetch: selects the operation, coerces its variables, filters it by access,
   * plans it and computes its shape.
   */
  prepare(request: OperationRequest): Promise<Ready | Refused>
  readonly warm: Engine['warm']
  readonly plans: NonNullable<Engine['plans']>
}

/** Caches the operations of documents, with all that was prepared for them. @param most operations, and the bytes that they may take */
function createDocuments(supergraph: Supergraph, most: number, mostBytes: number) {
  /**
   * Keys of a document's operations in `byText`: with the operations themselves as values, they would live as long as
   * their documents.
   */
  const keys = new WeakMap<DocumentNode, Map<string, string>>()
  const byText = new LRUCache<string, Prepared>({
    max: most,
    maxSize: mostBytes,
    sizeCalculation: ({ characters, variants, folded }) =>
      Math.min(mostBytes, Math.max(variants.size, folded.size, 1) * (variantBytes + characters * bytesPerCharacter)),
  })

  function prepareDocument(document: DocumentNode, operationName: string | undefined, graphVariant: string | undefined): Found | string {
    // An empty name is a name that no operation has.
    const name = `${graphVariant ?? ''}${operationName === undefined ? '' : `:${operationName}`}`
    const known = keys.get(document)?.get(name)
    let prepared = known === undefined ? undefined : byText.get(known)
    if (known !== undefined && prepared) return { prepared, text: known }
    const operation = findOperation(document, operationName)
    if (typeof operation === 'string') return operation
    const printed = print(document)
    // The only operation of a document is the same with and without its name.
    const isOnly = document.definitions.every(each => each.kind !== Kind.OPERATION_DEFINITION || each === operation.definition)
    const text = createHash('sha256')
      .update(`${isOnly ? (graphVariant ?? '') : name}\n${printed}`)
      .digest('base64')
    prepared = byText.get(text)
    if (!prepared) {
      const folded = new LRUCache<string, DocumentNode>({ max: mostVariants })
      const variants = new LRUCache<string, Promise<Variant>>({ max: mostVariants })
      prepared = {
        document,
        schema: schemaFor(supergraph, graphVariant),
        characters: printed.length,
        operation,
        conditions: conditionVariables(document),
        deferring: deferVariables(document),
        folded,
        variants,
      }
      byText.set(text, prepared)
    }
    const ofDocument = keys.get(document) ?? new Map<string, string>()
    keys.set(document, ofDocument.set(name, text))
    return { prepared, text }
  }

  function foldedDocument(prepared: Prepared, bits: string): DocumentNode {
    const { conditions, deferring, document } = prepared
    if (!conditions && !deferring) return document
    let folded = prepared.folded.get(bits)
    if (!folded) {
      const [now = '', later] = bits.split('d')
      const isLater = later === undefined ? null : (variable: string) => later[deferring!.indexOf(variable)] === '1'
      folded = foldConditions(document, variable => now[conditions?.indexOf(variable) ?? -1] === '1', isLater)
      prepared.folded.set(bits, folded)
    }
    return folded
  }

  return { prepareDocument, foldedDocument, byText }
}

/** Returns the schema that the clients of an operation know. @throws Error for an unknown variant */
function schemaFor({ schema, variants }: Supergraph, graphVariant: string | undefined): GraphQLSchema {
  if (graphVariant === undefined) return schema
  const known = variants.schemaOf(graphVariant)
  if (!known) throw new Error(`the graph has no variant ${graphVariant}`)
  return known
}

/** Throws for a supergraph that the planner cannot read. */
export function createPreparation(options: NativeOptions, supergraph: Supergraph): Preparation {
  const { access, log, answerBytes = mostAnswerBytes, now = () => performance.now() } = options
  const { planCacheSize = 1000, planCacheBytes = mostPreparedBytes } = options
  const { schema } = supergraph
  const planner = createPlanner(supergraph, options.planTexts)
  const pricing = createPricing(supergraph, options.maxCost)
  const { prepareDocument, foldedDocument, byText } = createDocuments(supergraph, planCacheSize, planCacheBytes)

  /** Callers that wait for each plan in the making. */
  const waiting = new WeakMap<Promise<Variant>, Askers>()

  let [hits, misses] = [0, 0]

  return {
    prepare,
    plans: () => ({ operations: byText.size, bytes: byText.calculatedSize, hits, misses }),
    async warm(operations, viewer) {
      for (const document of operations) {
        const found = prepareDocument(document, undefined, undefined)
        if (typeof found === 'string') continue
        // Planned as if no condition had a value.
        const { conditions, operation } = found.prepared
        const bits = conditions?.map(name => (isTrueByDefault(operation, name) ? '1' : '0')).join('') ?? ''
        const folded = foldedDocument(found.prepared, bits)
        const decision = access?.filter(folded, undefined, viewer) ?? null
        if (!decision?.refusedWhole) await variantOf(found, folded, decision, bits, { requestId: 'warm-up', operationName: undefined, viewer }).catch(() => {})
      }
    },
  }

  async function prepare(request: OperationRequest): Promise<Ready | Refused> {
    const found = prepareDocument(request.document, request.operationName, request.graphVariant)
    if (typeof found === 'string') return refused('BAD_USER_INPUT', found)
    const { prepared } = found
    const { definition } = prepared.operation
    const coerced = coerceVariables(prepared.schema, definition.variableDefinitions ?? [], request.variables)
    if (coerced.errors) return { errors: coerced.errors }
    const variables = coerced.coerced
    const bits = bitsOf(prepared, variables, request)
    const document = foldedDocument(prepared, bits)
    const decision = access?.filter(document, request.operationName, request.viewer) ?? null
    if (decision?.refusedWhole) return { data: null, errors: decision.errors.map(errorFrom) }
    const allowed = decision ? decision.document : document
    const estimated = pricing?.estimate(allowed, request.operationName, variables) ?? null
    if (pricing && allowed && estimated! > pricing.max && !request.isOurs)
      return { data: null, errors: [pricing.refusal(allowed, request.operationName, variables)] }
    if (prepared.variants.has(variantKey(bits, decision, request.overrides))) hits++
    else misses++
    const variant = variantOf(found, document, decision, bits, request)
    try {
      const ready = await variant
      if (options.hooks?.planned) await options.hooks.planned(request, ready.plan, ready.clientKeys!)
      const introspection = ready.introspection ? await introspect(prepared.schema, ready.introspection, request, now) : noData
      return { request, key: `${found.text} ${bits}`, variant: ready, variables, decision, introspection, estimated }
    } catch (cause) {
      return failedOf(cause, options.exposeInternalErrors)
    }
  }

  /** Returns the plan for one combination of conditions and one verdict; it is made at the first use. */
  function variantOf(
    { prepared, text }: Found,
    document: DocumentNode,
    decision: AccessDecision | null,
    bits: string,
    { requestId, operationName, claim, viewer, overrides }: Pick<OperationRequest, 'requestId' | 'operationName' | 'claim' | 'viewer' | 'overrides'>,
  ): Promise<Variant> {
    const asker = claim?.caller ?? viewer.keyId ?? viewer.userId ?? viewer.appId ?? viewer.kind
    const key = variantKey(bits, decision, overrides)
    const known = prepared.variants.get(key)
    if (known) {
      waiting.get(known)?.join(asker)
      return known
    }
    const askers = createAskers(asker)
    const planning = { permitted: decision ? decision.document : document, askers, active: overrides?.active }
    const variant = inStage(options, 'plan', { viewer }, () => compile(prepared, document, planning))
    waiting.set(variant, askers)
    variant.then(() => waiting.delete(variant)).catch(() => {})
    prepared.variants.set(key, variant)
    // Deleted first, because the cache recomputes the size only for a new entry.
    byText.delete(text)
    byText.set(text, prepared)
    variant.catch(cause => {
      // A cached failure would outlast its cause.
      prepared.variants.delete(key)
      if (codeOf(cause) === 'INTERNAL_SERVER_ERROR') log.error({ requestId, operationName, err: cause }, 'operation could not be planned')
    })
    return variant
  }

  /** Plans on the whole graph; what clients may see of the answer is in their own schema. */
  async function compile({ schema: known, operation }: Prepared, document: DocumentNode, { permitted, askers, active }: Planning): Promise<Variant> {
    const operationName = operation.definition.name?.value
    const whole = findOperation(document, operationName) as Operation
    const allowed = permitted === document ? whole : permitted && findOperation(permitted, operationName)
    const remaining = typeof allowed === 'string' ? null : allowed
    const rootType = known.getRootType(whole.definition.operation)!
    const names = createNames(supergraph)
    const sharing = remaining?.definition.operation === 'subscription' ? sharingOf(remaining, schema, supergraph.sharing) : null
    const began = now()
    const planned = remaining ? await traced('plan', 'internal', {}, () => planner.plan(remaining, names, askers, active)) : []
    options.planned?.(now() - began)
    const deferrals = isDeferred(whole) ? createDeferrals(whole) : null
    const needs = deferrals && readNeeds(whole, names, schema, deferrals)
    const plan = compilePlans(planned, supergraph, sharing?.latestBy, needs)
    const shape = shapeOf(whole, remaining, rootType, names, known, deferrals)
    return {
      plan,
      shape,
      incremental: deferrals && incrementalOf(shape, deferrals, answerBytes),
      project: createProjector(shape, answerBytes),
      introspection: introspectionOf(document, whole, shape),
      ...factsOf(whole, supergraph, options, names),
      sharing,
    }
  }
}

/** Returns what an operation is, whoever sends it. */
const factsOf = (
  operation: Operation,
  supergraph: Supergraph,
  { caching, transport, hooks }: NativeOptions,
  { clientKeys }: Names,
): Pick<Variant, 'caching' | 'changes' | 'name' | 'clientKeys'> => ({
  caching: keepingOf(operation, supergraph, caching, transport.readsCacheHeaders ?? false),
  changes: operation.definition.operation === 'mutation',
  name: operation.definition.name?.value ?? null,
  ...(hooks?.planned && { clientKeys }),
})

/** Returns the result for a request whose preparation failed. */
function failedOf(cause: unknown, isExposed: boolean | undefined): Refused {
  if (cause instanceof TooMuch) return tooMuchResult(cause)
  const code = codeOf(cause)
  return code === 'INTERNAL_SERVER_ERROR' ? accidentOf(cause, isExposed) : refused(code, (cause as Error).message)
}

/** Returns the values of an operation's conditions as text; behind a `d` those of `@defer`, where the caller takes parts. */
function bitsOf({ conditions, deferring }: Prepared, variables: Readonly<Record<string, unknown>>, { incremental }: OperationRequest): string {
  const bits = conditions?.map(name => (variables[name] === true ? '1' : '0')).join('') ?? ''
  // An absent or null variable stands for the argument's default, which is true.
  return deferring && incremental ? `${bits}d${deferring.map(name => (variables[name] === false ? '0' : '1')).join('')}` : bits
}

const incrementalOf = (shape: Shape, { all }: Deferrals, answerBytes: number): Incremental => ({
  project: createProjector(createView(isImmediate).of(shape), answerBytes),
  ways: waysTo(all),
  deferrals: all,
})

/** Whether an operation may have deferred fragments or streamed lists. */
const isDeferred = ({ definition, fragments }: Operation): boolean =>
  deferVariables({ kind: Kind.DOCUMENT, definitions: [definition, ...fragments.values()] }) !== null

const variantKey = (bits: string, decision: AccessDecision | null, overrides: ActiveOverrides | undefined): string =>
  overrides && overrides.active.length > 0 ? `${JSON.stringify(overrides.active)} ${bits} ${decision?.verdict ?? ''}` : `${bits} ${decision?.verdict ?? ''}`

const isTrueByDefault = ({ definition }: Operation, name: string): boolean =>
  definition.variableDefinitions?.some(
    ({ variable, defaultValue }) => variable.name.value === name && defaultValue?.kind === Kind.BOOLEAN && defaultValue.value,
  ) ?? false

const noData: Readonly<Data> = {}

export const refused = (...words: Parameters<typeof errorFor>): Refused => ({ errors: [errorFor(...words)] })

/** Result for an internal error; the error's text is included only where the configuration exposes it. */
export const accidentOf = (cause: unknown, isExposed = false): Refused & { readonly data: null } => ({
  data: null,
  errors: [errorFor('INTERNAL_SERVER_ERROR', isExposed ? String(cause) : 'Internal server error')],
})
