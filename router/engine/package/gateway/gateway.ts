import { createHash } from 'node:crypto'
import { deprecate } from 'node:util'
import type { QueryPlan } from '@apollo/query-planner'
import { type GraphQLSchema, getVariableValues } from 'graphql'
import { anonymous } from '../../../../subgraphs/viewer.ts'
import type { Engine, OperationRequest } from '../../engine.ts'
import type { CompiledPlan } from '../../execute/step.ts'
import type { Stage } from '../../native/hooks.ts'
import { createEngine } from '../../native/native.ts'
import {
  type GatewayConfig,
  refuseUnsupported,
  type ServiceEndpointDefinition,
  type SupergraphManager,
  type SupergraphSdlHookOptions,
  sourceKindOf,
} from '../config.ts'
import { isProduction } from '../host/environment.ts'
import { defaultLogger, engineLog } from '../host/logger.ts'
import { optional } from '../host/optional.ts'
import { managerOf } from '../managers/by-config.ts'
import { UplinkSupergraphManager } from '../managers/uplink.ts'
import { namesOf, queryPlanOf } from '../plan/query-plan.ts'
import { checkHealth, createSubgraphMap, type DataSourceMap, type SubgraphMap } from '../sources/subgraph-map.ts'
import { createSourceTransport, type IncomingViewer } from '../sources/transport.ts'
import { inSpan, inStageSpan, type OpenSpan } from '../spans.ts'
import { readSubgraphs } from '../supergraph-text.ts'
import type {
  GatewayExecutionResult,
  GatewayExecutor,
  GatewayGraphQLRequestContext,
  GatewayGraphQLResponse,
  GatewayUnsubscriber,
  GraphQLDataSource,
  Logger,
  OpenTelemetryConfig,
  ServiceMap,
} from '../types.ts'
import { version } from '../version.ts'
import { explainAsGateway } from './downstream.ts'
import { operationContextOf } from './operation-context.ts'
import { warningsOf } from './warnings.ts'

type GatewayPhase = 'initialized' | 'failed to load' | 'loaded' | 'updating schema' | 'stopping' | 'stopped'
type SchemaListener = (schemaContext: { apiSchema: GraphQLSchema; coreSupergraphSdl: string }) => void

interface ApolloConfig {
  key?: string
  keyHash?: string
  graphRef?: string
  graphId?: string
  graphVariant?: string
}

/** Why a text may not be taken into use, by what the gateway does. */
const noUpdate: Partial<Record<GatewayPhase, string>> = {
  'failed to load': 'after gateway failed to load',
  'updating schema': 'while supergraph update is in progress',
  stopped: 'after gateway has been stopped',
  stopping: 'while gateway is stopping',
}

/** Milliseconds of an operation: as many as a timer takes, for data sources have limits of their own. */
const noTimeoutMs = 2_000_000_000

/**
 * A gateway for `new ApolloServer({ gateway })`: plans operations over the subgraphs of a supergraph, asks their data
 * sources, and puts the answers together.
 */
export class ApolloGateway {
  /** The schema for clients, from when it is loaded. */
  schema?: GraphQLSchema
  private readonly config: GatewayConfig
  private readonly logger: Logger
  private readonly subgraphs: SubgraphMap
  private readonly schemaListeners = new Set<SchemaListener>()
  private readonly formerSchemaListeners = new Set<(schema: GraphQLSchema) => void>()
  private readonly plans = new WeakMap<CompiledPlan, QueryPlan>()
  private readonly names = new WeakMap<CompiledPlan, ReturnType<typeof namesOf>>()
  private readonly cleanups: (() => Promise<void>)[] = []
  private engine?: Engine
  private phase: GatewayPhase = 'initialized'
  private stopping: Promise<void> | undefined
  private supergraphSdl?: string
  private compositionId?: string
  private manager?: SupergraphManager

  constructor(config: GatewayConfig = {}) {
    refuseUnsupported(config)
    this.config = { __exposeQueryPlanExperimental: !isProduction(), ...config }
    this.logger = config.logger ?? defaultLogger(config.debug)
    this.subgraphs = createSubgraphMap(this.config, this.logger)
    for (const line of warningsOf(config)) this.logger.warn(line)
    this.logger.debug('Gateway successfully initialized (but not yet loaded)')
  }

  get supergraphManager(): SupergraphManager | undefined {
    return this.manager
  }

  /**
   * Reads the supergraph.
   * @param options of Apollo Server: key and graph of GraphOS
   * @throws Error when there is none, or it cannot be used; then the gateway stays unusable
   */
  async load(options: { apollo?: ApolloConfig } = {}): Promise<{ schema: GraphQLSchema; executor: GatewayExecutor }> {
    this.logger.debug('Loading gateway...')
    if (this.phase !== 'initialized') throw new Error(`ApolloGateway.load called in surprising state ${this.phase}`)
    const { key, keyHash, graphId, graphVariant, graphRef = graphId && `${graphId}@${graphVariant ?? 'current'}` } = options.apollo ?? {}
    const isManaged = sourceKindOf(this.config) === 'managed' || this.config.supergraphSdl instanceof UplinkSupergraphManager
    if (!isManaged && graphRef && keyHash)
      this.logger.warn(
        'A local gateway configuration is overriding a managed federation configuration.  To use the managed configuration, do not specify a service list or supergraphSdl locally.',
      )
    await this.begin(managerOf(this.config, this.logger, { ...(key && { key }), ...(keyHash && { keyHash }), ...(graphRef && { graphRef }) }))
    this.logger.info(`Gateway successfully loaded schema.\n\t* Mode: ${isManaged ? 'managed' : 'unmanaged'}${graphRef ? `\n\t* Service: ${graphRef}` : ''}`)
    return { schema: this.schema!, executor: this.executor }
  }

  private async begin(manager: SupergraphManager): Promise<void> {
    const options: SupergraphSdlHookOptions = {
      update: supergraphSdl => this.update(supergraphSdl),
      healthCheck: supergraphSdl => this.checkSubgraphsOf(supergraphSdl),
      getDataSource: (definition: ServiceEndpointDefinition): GraphQLDataSource => this.subgraphs.use(definition),
    }
    try {
      const { supergraphSdl, cleanup } = await manager.initialize(options)
      if (typeof cleanup === 'function') this.cleanups.push(cleanup)
      else if (cleanup) this.logger.error('Provided `supergraphSdl` function returned an invalid `cleanup` property (must be a function)')
      this.update(supergraphSdl)
    } catch (cause) {
      this.phase = 'failed to load'
      await this.cleanUp()
      throw cause
    }
    this.manager = manager
    this.phase = 'loaded'
  }

  /** Takes a supergraph into use. @throws Error for a text that is none, or when it is not the moment */
  private update(supergraphSdl: string): void {
    const not = noUpdate[this.phase]
    if (not) throw new Error(`Can't call \`update\` callback ${not}.`)
    this.phase = 'updating schema'
    try {
      const id = createHash('sha256').update(supergraphSdl).digest('hex')
      if (id === this.compositionId) this.logger.debug('No change in composition since last check.')
      else this.replace(supergraphSdl, id)
    } finally {
      this.phase = 'loaded'
    }
  }

  private replace(supergraphSdl: string, compositionId: string): void {
    for (const definition of readSubgraphs(supergraphSdl, this.config.validateSupergraph)) this.subgraphs.use(definition)
    const engine = this.open(supergraphSdl)
    const former = this.schema && { compositionId: this.compositionId!, supergraphSdl: this.supergraphSdl!, schema: this.schema }
    if (former) this.logger.info(`Updated Supergraph SDL was found [Composition ID ${former.compositionId} => ${compositionId}]`)
    this.config.queryPlannerConfig?.cache?.clear()
    const { schema } = engine
    schema.extensions = { ...schema.extensions, apollo: { gateway: { version } } }
    Object.assign(this, { engine, schema, compositionId, supergraphSdl })
    this.tell(this.formerSchemaListeners, 'onSchemaChange', schema)
    this.tell(this.schemaListeners, 'onSchemaLoadOrUpdate', { apiSchema: schema, coreSupergraphSdl: supergraphSdl })
    this.config.experimental_didUpdateSupergraph?.({ compositionId, supergraphSdl, schema }, former)
  }

  /** A listener that throws stops neither the others nor the update. */
  private tell<Told>(listeners: ReadonlySet<(told: Told) => void>, name: string, told: Told): void {
    for (const listener of listeners) {
      try {
        listener(told)
      } catch (cause) {
        this.logger.error(`An error was thrown from an '${name}' listener. The schema will still update: ${messageOf(cause)}`)
      }
    }
  }

  private open(supergraphSdl: string): Engine {
    const { experimental_approximateQueryPlanStoreMiB: mebibytes = 30, telemetry } = this.config
    return createEngine({
      supergraphSdl,
      transport: createSourceTransport(this.subgraphs.sourceOf, telemetry),
      log: engineLog(this.logger),
      planCacheSize: 100_000,
      planCacheBytes: mebibytes * 1024 * 1024,
      operationTimeoutMs: noTimeoutMs,
      answerBytes: Number.MAX_SAFE_INTEGER,
      incremental: false,
      exposeInternalErrors: true,
      hooks: {
        explain: explainAsGateway,
        flawsAside: true,
        planned: (request, plan, clientKeys) => this.planned(request, plan, clientKeys),
        stage: <Result>(stage: Stage, { viewer }: Pick<OperationRequest, 'viewer'>, work: () => Result) =>
          inStageSpan(stage, telemetry, stage === 'plan' ? operationAttributes(viewer as IncomingViewer) : {}, work),
      },
    })
  }

  /** Names the fetches of an operation, and shows its plan to those who asked for it. */
  private async planned({ viewer }: OperationRequest, plan: CompiledPlan, clientKeys: ReadonlyMap<string, string>): Promise<void> {
    const incoming = viewer as IncomingViewer
    const { requestContext } = incoming
    let names = this.names.get(plan)
    if (!names) {
      names = namesOf(plan, requestContext.operation?.name?.value ?? null, clientKeys)
      this.names.set(plan, names)
    }
    incoming.names = names
    const { experimental_didResolveQueryPlan: resolved, queryPlannerConfig, debug } = this.config
    const cache = queryPlannerConfig?.cache
    if (!resolved && !cache && !debug && !this.isPlanShown(requestContext)) return
    let queryPlan = this.plans.get(plan)
    if (!queryPlan) {
      queryPlan = queryPlanOf(plan, names, clientKeys)
      this.plans.set(plan, queryPlan)
    }
    if (cache) await this.cachePlan(requestContext, queryPlan)
    resolved?.({ queryPlan, serviceMap: this.serviceMap(), requestContext, operationContext: operationContextOf(this.schema!, requestContext) })
    if (debug && queryPlan.node) this.logger.debug(inWords(queryPlan))
    incoming.queryPlan = queryPlan
  }

  private async cachePlan({ queryHash, request }: GatewayGraphQLRequestContext, queryPlan: QueryPlan): Promise<void> {
    const cache = this.config.queryPlannerConfig!.cache!
    const key = request.operationName ? createHash('sha256').update(queryHash).update(request.operationName).digest('hex') : queryHash
    try {
      if (!(await cache.get(key))) await cache.set(key, queryPlan)
    } catch (cause) {
      this.logger.warn(`Could not store queryPlan${messageOf(cause)}`)
    }
  }

  private isPlanShown({ request }: GatewayGraphQLRequestContext): boolean {
    return Boolean(this.config.__exposeQueryPlanExperimental && request.http?.headers?.get('Apollo-Query-Plan-Experimental'))
  }

  private serviceMap(): ServiceMap {
    const sources: ServiceMap = Object.create(null)
    for (const [name, { dataSource }] of Object.entries(this.subgraphs.known)) sources[name] = dataSource
    return sources
  }

  /** Calls the listener whenever there is another schema. @deprecated use `onSchemaLoadOrUpdate` */
  onSchemaChange(callback: (schema: GraphQLSchema) => void): GatewayUnsubscriber {
    this.formerSchemaListeners.add(callback)
    return () => void this.formerSchemaListeners.delete(callback)
  }

  /** Calls the listener with the first schema and each later one. */
  onSchemaLoadOrUpdate(callback: SchemaListener): GatewayUnsubscriber {
    this.schemaListeners.add(callback)
    return () => void this.schemaListeners.delete(callback)
  }

  /** Asks every subgraph whether it answers. @throws Error naming the first one that does not */
  serviceHealthCheck(serviceMap: DataSourceMap = this.subgraphs.known): Promise<{ name: string; response: GatewayGraphQLResponse }[]> {
    return checkHealth(serviceMap)
  }

  /** The subgraphs of another supergraph are asked by data sources of their own. */
  private async checkSubgraphsOf(supergraphSdl: string): Promise<void> {
    const sources: DataSourceMap = Object.create(null)
    for (const definition of readSubgraphs(supergraphSdl)) sources[definition.name] = { ...definition, dataSource: this.subgraphs.make(definition) }
    try {
      await this.serviceHealthCheck(sources)
    } catch (cause) {
      throw new Error(
        `The gateway subgraphs health check failed. Updating to the provided \`supergraphSdl\` will likely result in future request failures to subgraphs. The following error occurred during the health check:\n${messageOf(cause)}`,
        { cause },
      )
    }
  }

  /** Runs one operation of Apollo Server, which has validated it. */
  executor: GatewayExecutor = requestContext =>
    inSpan('gateway.request', this.config.telemetry, requestAttributes(requestContext, this.config.telemetry), span => this.run(requestContext, span))

  private async run(requestContext: GatewayGraphQLRequestContext, span: OpenSpan): Promise<GatewayExecutionResult> {
    const { telemetry } = this.config
    const { request, document } = requestContext
    const operation = operationContextOf(this.schema!, requestContext)
    span.setAttributes({ 'graphql.operation.type': operation.operation.operation })
    const invalid = inSpan('gateway.validate', telemetry, {}, validating => {
      const { errors = [] } = getVariableValues(this.schema!, operation.operation.variableDefinitions ?? [], request.variables ?? {})
      if (errors.length > 0) validating.failed(errors, telemetry)
      return errors
    })
    if (invalid.length > 0) {
      span.failed(invalid, telemetry)
      return { errors: invalid }
    }
    if (operation.operation.operation === 'subscription') throw new Error('Execution of subscriptions not supported by gateway')
    const viewer: IncomingViewer = { ...anonymous, requestContext, names: new Map() }
    const asked = {
      document,
      operationName: request.operationName,
      variables: request.variables ?? {},
      viewer,
      requestId: requestContext.queryHash ?? '',
      claim,
    }
    const answer: GatewayExecutionResult = { ...((await this.engine!.execute(asked)) as GatewayExecutionResult) }
    if (this.isPlanShown(requestContext)) answer.extensions = { ...answer.extensions, __queryPlanExperimental: shownPlan(viewer.queryPlan, requestContext) }
    if (answer.errors) span.failed(answer.errors, telemetry)
    return answer
  }

  /** Ends everything that runs in the background. It may be called several times. */
  async stop(): Promise<void> {
    switch (this.phase) {
      case 'stopping':
        return this.stopping
      case 'updating schema':
        throw new Error("`ApolloGateway.stop` shouldn't be called from inside a schema change listener")
      case 'loaded':
        this.phase = 'stopping'
        this.stopping = this.cleanUp()
        await this.stopping
        this.phase = 'stopped'
    }
  }

  private async cleanUp(): Promise<void> {
    const failed = (cause: unknown) => this.logger.error(`Error occured while calling user provided \`cleanup\` function: ${messageOf(cause)}`)
    await Promise.all(
      this.cleanups
        .splice(0)
        .map(async cleanup => cleanup())
        .map(each => each.catch(failed)),
    )
  }

  /** For tests of users; not part of what is promised. */
  __testing(): { state: { phase: string }; compositionId: string | undefined; supergraphSdl: string | undefined } {
    return { state: { phase: this.phase }, compositionId: this.compositionId, supergraphSdl: this.supergraphSdl }
  }
}

ApolloGateway.prototype.onSchemaChange = deprecate(
  ApolloGateway.prototype.onSchemaChange,
  "'ApolloGateway.prototype.onSchemaChange' is deprecated. Use 'ApolloGateway.prototype.onSchemaLoadOrUpdate' instead.",
)

/** All operations take turns as those of one caller: the gateway does not know its callers. */
const claim = { caller: 'gateway', organization: 'gateway' }

const messageOf = (cause: unknown): string => (cause as Error | null)?.message ?? String(cause)

const operationAttributes = ({ requestContext: { operationName } }: IncomingViewer) => (operationName ? { 'graphql.operation.name': operationName } : {})

const requestAttributes = ({ operationName, source }: GatewayGraphQLRequestContext, telemetry: OpenTelemetryConfig | undefined) => ({
  ...(operationName && { operationName, 'graphql.operation.name': operationName }),
  ...(telemetry?.includeDocument && source && { 'graphql.document': source }),
})

/** The planner is loaded only where somebody reads plans. */
const inWords = (queryPlan: QueryPlan): string => optional<typeof import('@apollo/query-planner')>('@apollo/query-planner')!.prettyFormatQueryPlan(queryPlan)

function shownPlan(queryPlan: QueryPlan | undefined, { request }: GatewayGraphQLRequestContext): unknown {
  const headers = request.http!.headers
  const format = headers.has('Apollo-Query-Plan-Experimental-Format') ? headers.get('Apollo-Query-Plan-Experimental-Format') : 'prettified'
  if (format === 'internal') return queryPlan
  return format === 'prettified' && queryPlan?.node ? inWords(queryPlan) : true
}
