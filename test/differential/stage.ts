import { defaultFieldResolver, GraphQLError, type GraphQLSchema, getNamedType, isNonNullType, isObjectType, Kind, parse, subscribe, visit } from 'graphql'
import { DomainError } from '../../platform/errors.ts'
import { openApolloEngine } from '../../router/engine/apollo/stock.ts'
import type { Engine, IncrementalForm } from '../../router/engine/engine.ts'
import { createEngine } from '../../router/engine/native/native.ts'
import { conditionVariables, findOperation, foldConditions } from '../../router/engine/operation/operation.ts'
import { createPlanner } from '../../router/engine/plan/planner.ts'
import { createNames } from '../../router/engine/repairs/hive-response-keys/names.ts'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import { createRemoteTransport } from '../../router/engine/transport/remote.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { payloadsOf } from '../engine/incremental/payloads-of.ts'
import { monolithOf, runMonolith } from '../engine/monolith.ts'
import { serveSubgraph } from '../engine/remote/remote-graph.ts'
import { type Answer, answerOf, compose, type Part, testGraph } from '../engine/supergraph-fixture.ts'
import type { SentPayload } from '../kit/payloads.ts'
import { subscribeAlone } from '../kit/stream.ts'
import { goneEntity } from './comparing.ts'
import type { PurposeGraph, Resolvers } from './graphs/graph.ts'

type PlannerAnswer = Awaited<ReturnType<ReturnType<typeof createPlanner>['plan']>>

/** One supergraph behind every engine, and the one schema that they are compared with. */
export interface Stage extends AsyncDisposable {
  readonly schema: GraphQLSchema
  readonly supergraphSdl: string
  /** Names of fields that fail while they stand here, in every schema alike. */
  readonly faults: Set<string>
  /** Names of fields that no other field needs: neither keys nor requirements. */
  readonly mayFail: (field: string) => boolean
  whole(source: string, variables: Record<string, unknown>): Promise<Answer>
  embedded(source: string, variables: Record<string, unknown>): Promise<Answer>
  remote(source: string, variables: Record<string, unknown>): Promise<Answer>
  stock(source: string, variables: Record<string, unknown>): Promise<Answer>
  /** The payloads of an operation with deferred fragments. */
  deferred(source: string, variables: Record<string, unknown>, form: IncrementalForm): Promise<SentPayload[]>
  /** Every result of a subscription. */
  stream(engine: 'whole' | 'embedded' | 'remote', source: string, variables: Record<string, unknown>): Promise<Answer[]>
  plan(source: string, variables: Record<string, unknown>): Promise<PlannerAnswer>
  /** What the engines logged since it was asked last. */
  logged(): Record<string, unknown>[]
}

export async function openStage(graph: PurposeGraph): Promise<Stage> {
  await using opening = new AsyncDisposableStack()
  const faults = new Set<string>()
  const parts = Object.fromEntries(Object.entries(graph.parts).map(([name, part]) => [name, failing(part, faults)]))
  const supergraphSdl = compose(parts)
  const supergraph = readSupergraph(supergraphSdl)
  const local = testGraph(parts)
  const servers = await Promise.all(Object.entries(parts).map(async ([name, part]) => [name, await serveSubgraph(part)] as const))
  for (const [, server] of servers) opening.defer(() => server.stop())
  const lines: Record<string, unknown>[] = local.logged
  const write = (fields: unknown) => void lines.push(fields as Record<string, unknown>)
  const log = { error: write, warn: write }
  const transport = createRemoteTransport({ subgraphs: new Map(servers.map(([name, { url }]) => [name, { url }])) })
  opening.defer(() => transport.close())
  const remote = createEngine({ supergraphSdl: supergraph, transport, log })
  const stock = await openApolloEngine({ supergraphSdl: supergraph, transport: local.transport, log })
  const whole = monolithOf(supergraph.schema, failingWhole(graph.whole, supergraph.schema, faults))
  for (const [name, field] of Object.entries(whole.getSubscriptionType()?.getFields() ?? {})) {
    const { subscribe: listen } = graph.whole.Subscription![name] as { subscribe: NonNullable<typeof field.subscribe> }
    field.subscribe = listen
    field.resolve = defaultFieldResolver
  }
  const planner = createPlanner(supergraph)
  const needed = fieldsInUse(supergraphSdl)
  const run = async (engine: Engine, source: string, variables: Record<string, unknown>) => {
    graph.reset?.()
    return answerOf(await engine.execute({ document: parse(source), variables, viewer: anonymous, requestId: 'request-1' }))
  }
  const open = opening.move()
  return {
    schema: supergraph.schema,
    supergraphSdl,
    faults,
    mayFail: field => (graph.mayFail?.(field) ?? true) && !needed.has(field),
    async whole(source, variables) {
      graph.reset?.()
      return answerOf(await runMonolith(whole, source, variables))
    },
    embedded: (source, variables) => run(local.engine, source, variables),
    remote: (source, variables) => run(remote, source, variables),
    stock: (source, variables) => run(stock, source, variables),
    async deferred(source, variables, form) {
      graph.reset?.()
      return payloadsOf(local, source, form, { variables })
    },
    async stream(engine, source, variables) {
      const document = parse(source)
      const started =
        engine === 'whole'
          ? await subscribe({ schema: whole, document, variableValues: variables })
          : await subscribeAlone({ embedded: local.engine, remote }[engine], { document, variables, viewer: anonymous, requestId: 'request-1' })
      if (!(Symbol.asyncIterator in started)) return [answerOf(started)]
      const answers: Answer[] = []
      for await (const result of started) answers.push(answerOf(result))
      return answers
    },
    async plan(source, variables) {
      const document = parse(source)
      const conditions = conditionVariables(document)
      const folded = conditions ? foldConditions(document, name => variables[name] === true || !Object.hasOwn(variables, name)) : document
      const operation = findOperation(folded, undefined)
      return typeof operation === 'string' ? [] : planner.plan(operation, createNames(supergraph))
    },
    logged: () => lines.splice(0),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

const failed = (field: string) => new DomainError('CONFLICT', `The field ${field} fails for now.`)

type Resolve = (source: unknown, args: unknown, context: unknown, info: never) => unknown

const orFail =
  (field: string, resolve: unknown, faults: ReadonlySet<string>): Resolve =>
  (source, args, context, info) => {
    // The router stops at a missing entity; the reference executor continues.
    if (faults.has(field) && (source as { id?: unknown } | undefined)?.id !== 'gone') throw failed(field)
    return ((resolve as Resolve | undefined) ?? (defaultFieldResolver as Resolve))(source, args, context, info)
  }

/** A subgraph whose fields fail while their names stand among the faults. */
function failing(part: Part, faults: ReadonlySet<string>): Part {
  const resolvers = { ...(part.resolvers as Record<string, Record<string, unknown>> | undefined) }
  for (const definition of parse(part.sdl).definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION || definition.name.value === 'Subscription') continue
    const own = { ...resolvers[definition.name.value] }
    for (const { name } of definition.fields ?? []) own[name.value] = orFail(name.value, own[name.value], faults)
    resolvers[definition.name.value] = own
  }
  return { ...part, resolvers: resolvers as NonNullable<Part['resolvers']> }
}

function failingWhole(whole: Resolvers, schema: GraphQLSchema, faults: ReadonlySet<string>): Resolvers {
  const resolvers: Record<string, Record<string, unknown>> = {}
  for (const [name, fields] of Object.entries(whole)) resolvers[name] = { ...fields }
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(getNamedType(type)) || type.name.startsWith('__') || type.name === 'Subscription' || !isObjectType(type)) continue
    const own = { ...resolvers[type.name] }
    for (const [field, { type: answered }] of Object.entries(type.getFields())) {
      const resolve = orFail(field, own[field], faults)
      own[field] = isNonNullType(answered) ? orGone(resolve) : resolve
    }
    resolvers[type.name] = own
  }
  return resolvers
}

/** One schema says in its own way that it has nothing to answer for an entity that is gone. */
const orGone =
  (resolve: Resolve): Resolve =>
  (source, ...call) => {
    const value = resolve(source, ...call)
    if ((value === null || value === undefined) && (source as { id?: unknown } | undefined)?.id === 'gone') throw new GraphQLError(goneEntity)
    return value
  }

/** Every field name in a key or a requirement: without them entities cannot be fetched, which no single schema knows. */
function fieldsInUse(supergraphSdl: string): Set<string> {
  const names = new Set<string>()
  visit(parse(supergraphSdl), {
    Argument({ name, value }) {
      if (!['key', 'requires', 'provides'].includes(name.value) || value.kind !== Kind.STRING) return
      for (const word of value.value.matchAll(/[_A-Za-z]\w*/g)) names.add(word[0])
    },
  })
  return names
}
