import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Config } from '../../config.ts'
import { createAccessFilter } from '../access/filter.ts'
import { type BytesInFlight, createBytesInFlight } from '../engine/data/in-flight.ts'
import type { Engine, EngineOptions, Transport } from '../engine/engine.ts'
import { deduplicated } from '../engine/native/deduplicate.ts'
import { createEngine } from '../engine/native/native.ts'
import { overriding } from '../engine/native/overriding.ts'
import { openPlanning, type Planning } from '../engine/plan/apart/planning.ts'
import { readSupergraph, type Supergraph } from '../engine/supergraph.ts'
import { registerFigures } from '../metrics/figure.ts'
import { measureOperations, type OperationFigures } from '../metrics/operations.ts'
import { variants } from './listed.generated.ts'
import { keepingAnswers, usualCaching } from './process/cache/response-cache.ts'
import { openOverrideRules } from './process/override-rules.ts'

/** Opens the configured engine. The stock gateway is loaded only on request. */
export async function openEngine(kind: Config['engine'], options: EngineOptions): Promise<Engine> {
  if (kind === 'native') return createEngine(options)
  const { openApolloEngine } = await import('../engine/apollo/stock.ts')
  return openApolloEngine(options)
}

type InFlight = 'inFlight' | 'inFlightOfCaller' | 'inFlightOfOrganization'

const inFlightOf = new WeakMap<Registry, BytesInFlight>()

/** Creates the process's counter of bytes in flight, shared by everything that the same limits cover. */
export function bytesInFlight(metrics: Registry, { inFlight, inFlightOfCaller, inFlightOfOrganization }: Pick<Config['remote'], InFlight>): BytesInFlight {
  const known = inFlightOf.get(metrics)
  if (known) return known
  const mebibyte = 1024 * 1024
  const made = createBytesInFlight({
    ofCaller: inFlightOfCaller * mebibyte,
    ofOrganization: inFlightOfOrganization * mebibyte,
    all: inFlight * mebibyte,
  })
  inFlightOf.set(metrics, made)
  registerFigures(metrics, [{ name: 'supergraph_bytes_in_flight', help: 'Bytes held for operations and answers under way.', read: () => made.total }])
  return made
}

/** Settings of how operations run. */
export type EngineSettings = Pick<Config, 'engine' | 'environment'> & {
  readonly remote: Pick<
    Config['remote'],
    'operationMs' | 'planMs' | 'answerBytes' | 'incremental' | 'incrementalParts' | 'maxCost' | 'slowMs' | 'deduplicate' | InFlight
  >
  /** Planner processes that exist already for the same supergraph, and are ended by their creator. @default new ones */
  readonly planning?: Planning
  /** Whether and how long answers are kept. @default no cache */
  readonly responseCache?: Config['responseCache']
  /** Rules of progressive overrides. @default no label is ever active */
  readonly overrides?: Config['overrides']
}

const known = new WeakMap<Registry, OperationFigures>()

/**
 * Opens the configured engine over a supergraph, with access rules and metrics; plans are made in separate processes.
 * @param metrics collects its figures, beside those of earlier engines
 * @param stack   collects the cleanups of the planner processes
 * @throws Error for a supergraph that cannot be planned
 */
export async function openEngineOver(
  supergraph: Supergraph,
  transport: Transport,
  { engine, environment, remote, planning: shared, overrides, responseCache = usualCaching }: EngineSettings,
  { log, metrics }: { readonly log: Logger; readonly metrics: Registry },
  stack: AsyncDisposableStack,
): Promise<Engine> {
  const figures = known.get(metrics) ?? measureOperations(metrics)
  known.set(metrics, figures)
  const own = engine === 'native' && !shared ? openPlanning(supergraph, { planMs: remote.planMs, log, stopped: figures.planStopped }) : null
  if (own) stack.defer(() => own.close())
  const planning = engine === 'native' ? (own ?? shared) : null
  const readable = planning?.ready()
  // A rejection is handled below, where both promises are awaited; this prevents an unhandled rejection until then.
  readable?.catch(() => {})
  const opened = await openEngine(engine, {
    supergraphSdl: supergraph,
    transport: engine === 'native' ? keepingAnswers(figures.watchTransport(transport), supergraph, responseCache, metrics) : figures.watchTransport(transport),
    caching: { ...responseCache, isOn: responseCache.store !== 'off' },
    planned: figures.planned,
    planTexts: planning?.planTexts,
    access: createAccessFilter(supergraph.access),
    log,
    operationTimeoutMs: remote.operationMs,
    answerBytes: remote.answerBytes,
    incremental: remote.incremental === 'on',
    incrementalParts: remote.incrementalParts,
    inFlight: bytesInFlight(metrics, remote),
    maxCost: remote.maxCost,
    slowMs: remote.slowMs,
    // In development the client sees the internal error; elsewhere only the log does.
    exposeInternalErrors: environment === 'development',
    exposePlans: environment === 'development',
  })
  await readable
  const sharing = remote.deduplicate ? deduplicated(opened, transport.passed ?? []) : opened
  const labels = engine === 'native' && overrides ? supergraph.overrides : null
  const telling = { exposePlans: environment === 'development', maxCost: remote.maxCost }
  const deciding = labels ? overriding(sharing, { labels, ...telling, ...openOverrideRules(overrides!, { log, metrics }, stack) }) : sharing
  const watched = figures.watchEngine(deciding)
  return own ? Object.assign(watched, { retire: own.retire }) : watched
}

let own: Supergraph | undefined

/** The platform's own supergraph as composed, with its variants. */
export const ownSupergraph = (): Supergraph => {
  own ??= readSupergraph(readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8'), variants)
  return own
}
