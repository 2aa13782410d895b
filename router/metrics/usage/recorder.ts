import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { type ClientProgram, programNow } from '../../../platform/caller/cause.ts'
import type { Engine, OperationRequest } from '../../engine/engine.ts'
import { conditionVariables, findOperation, foldConditions } from '../../engine/operation/operation.ts'
import { otherName } from './clients.ts'
import { type InputVariable, usedBy, visitValues } from './coordinates.ts'
import { documentHash } from './normalised.ts'
import type { Counter, Sums } from './sums.ts'

/** Name of operations without a name. */
const anonymous = 'anonymous'

/** Maximum characters of an operation's name. */
const longestName = 100

/** Maximum number of combinations of conditions of one operation whose coordinates are kept. */
const mostVariants = 32

/** An operation of a document. */
interface Operation {
  readonly name: string
  /** Name of the variant of the graph that it asks; empty for the whole graph. */
  readonly graphVariant: string
  readonly hash: string
  readonly definition: OperationDefinitionNode
  /** Variables of `@skip` and `@include`; null without these directives. */
  readonly conditions: readonly string[] | null
  /** By the values of the conditions. */
  readonly variants: LRUCache<string, Variant>
}

/** An operation under one combination of conditions. */
interface Variant {
  readonly coordinates: readonly string[]
  readonly inputs: readonly InputVariable[]
  /** The day whose counters these are. */
  day: number
  counters: Map<ClientProgram, Counters>
  /** For clients that come after the bound of the day was reached. */
  rest: Counters | null
}

/** Counters of one operation of one client. */
interface Counters {
  readonly whole: Counter
  /** By coordinates that values of variables name. */
  readonly values: Map<string, ValueCounter>
}

interface ValueCounter {
  /** Null where the document names the coordinate itself, which is counted already. */
  readonly counter: Counter | null
  /** The last operation that was counted: it counts once, however often it names the coordinate. */
  last: number
}

/**
 * Wraps an engine to count the use of the schema by every operation. What an operation uses is found once for its
 * document and conditions; from then on an operation costs some look-ups. An error of counting fails no operation.
 * @param now ms since 1970
 */
export function countUsage(engine: Engine, sums: Sums, log: Pick<Logger, 'error'>, now: () => number = Date.now): Engine {
  const known = new WeakMap<DocumentNode, Map<string, Operation | null>>()

  const operationOf = ({ document, operationName, graphVariant = '' }: OperationRequest): Operation | null => {
    const ofDocument = known.get(document) ?? new Map<string, Operation | null>()
    // An empty name is a name that no operation has.
    const key = `${graphVariant}${operationName === undefined ? '' : `:${operationName}`}`
    const found = ofDocument.get(key)
    if (found !== undefined) return found
    const read = readOperation(document, operationName, graphVariant)
    // Names of unknown operations are not kept.
    if (read) known.set(document, ofDocument.set(key, read))
    return read
  }
  const countersOf = (variant: Variant, client: ClientProgram, { name, hash, graphVariant }: Operation): Counters => {
    const found = variant.counters.get(client)
    if (found) return found
    const whole = sums.counterOf(client, name, hash, variant.coordinates, graphVariant)
    if (!whole) {
      variant.rest ??= { whole: sums.otherCounterOf(variant.coordinates), values: new Map() }
      return variant.rest
    }
    const made: Counters = { whole, values: new Map() }
    variant.counters.set(client, made)
    return made
  }
  const valueCounterOf = ({ coordinates }: Variant, client: ClientProgram, { name, hash, graphVariant }: Operation, coordinate: string): Counter | null =>
    coordinates.includes(coordinate) ? null : (sums.counterOf(client, name, hash, [coordinate], graphVariant) ?? sums.otherCounterOf([coordinate]))
  /** Number of operations so far whose variables were read. */
  let counted = 0
  const count = (request: OperationRequest) => {
    const at = now()
    sums.turn(at)
    const operation = operationOf(request)
    if (!operation) return
    const variant = variantOf(engine.schema, operation, request)
    // Introspection uses nothing that could be removed.
    if (variant.coordinates.length === 0) return
    if (variant.day !== sums.day) {
      variant.day = sums.day
      variant.counters = new Map()
      variant.rest = null
    }
    const client = sums.clientOf(programNow())
    const counters = countersOf(variant, client, operation)
    counters.whole.count(at)
    if (variant.inputs.length === 0) return
    counted += 1
    visitValues(variant.inputs, request.variables, coordinate => {
      let value = counters.values.get(coordinate)
      if (!value) {
        value = { counter: valueCounterOf(variant, client, operation, coordinate), last: 0 }
        counters.values.set(coordinate, value)
      }
      if (value.last === counted) return
      value.last = counted
      value.counter?.count(at)
    })
  }
  const countSafely = (request: OperationRequest) => {
    try {
      count(request)
    } catch (err) {
      log.error({ requestId: request.requestId, err }, 'use of the schema not counted')
    }
  }

  return {
    ...engine,
    get schema() {
      return engine.schema
    },
    execute(request) {
      countSafely(request)
      return engine.execute(request)
    },
    ...(engine.executeIncrementally && {
      executeIncrementally(request: OperationRequest) {
        countSafely(request)
        return engine.executeIncrementally!(request)
      },
    }),
    prepareStream(request) {
      countSafely(request)
      return engine.prepareStream(request)
    },
  }
}

function readOperation(document: DocumentNode, operationName: string | undefined, graphVariant: string): Operation | null {
  const operation = findOperation(document, operationName)
  if (typeof operation === 'string') return null
  const { definition } = operation
  const name = definition.name?.value ?? anonymous
  return {
    name: name.length <= longestName ? name : otherName,
    graphVariant,
    hash: documentHash(document, operationName)!,
    definition,
    conditions: conditionVariables(document),
    variants: new LRUCache({ max: mostVariants }),
  }
}

function variantOf(schema: GraphQLSchema, { conditions, definition, variants }: Operation, { document, operationName, variables }: OperationRequest): Variant {
  const isTrue = (name: string) => (variables && Object.hasOwn(variables, name) ? variables[name] === true : isTrueByDefault(definition, name))
  const bits = conditions?.map(name => (isTrue(name) ? '1' : '0')).join('') ?? ''
  const found = variants.get(bits)
  if (found) return found
  const folded = conditions ? foldConditions(document, isTrue) : document
  const used = usedBy(schema, folded, operationName) ?? { coordinates: [], inputs: [] }
  const variant: Variant = { ...used, day: -1, counters: new Map(), rest: null }
  variants.set(bits, variant)
  return variant
}

const isTrueByDefault = ({ variableDefinitions }: OperationDefinitionNode, name: string): boolean =>
  variableDefinitions?.some(({ variable, defaultValue }) => variable.name.value === name && defaultValue?.kind === Kind.BOOLEAN && defaultValue.value) ?? false
