import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Config } from '../../config.ts'
import { createAccessFilter } from '../access/filter.ts'
import type { Engine, EngineOptions, Transport } from '../engine/engine.ts'
import { createEngine } from '../engine/native/native.ts'
import { readSupergraph, type Supergraph } from '../engine/supergraph.ts'
import { measureOperations, type OperationFigures } from '../metrics/operations.ts'

/** Opens the engine that the configuration names. The stock gateway is loaded only when it is the one. */
export async function openEngine(kind: Config['engine'], options: EngineOptions): Promise<Engine> {
  if (kind === 'native') return createEngine(options)
  const { openApolloEngine } = await import('../engine/apollo/stock.ts')
  return openApolloEngine(options)
}

/** What configuration says of how operations run. */
export type EngineSettings = Pick<Config, 'engine' | 'environment'> & {
  readonly remote: Pick<Config['remote'], 'operationMs' | 'answerBytes' | 'maxCost' | 'slowMs'>
}

const known = new WeakMap<Registry, OperationFigures>()

/** Opens the engine over a supergraph as configured, behind its access rules, and measured. @param metrics where its figures go, beside those of the engines before it */
export async function openEngineOver(
  supergraph: Supergraph,
  transport: Transport,
  { engine, environment, remote }: EngineSettings,
  { log, metrics }: { readonly log: Logger; readonly metrics: Registry },
): Promise<Engine> {
  const figures = known.get(metrics) ?? measureOperations(metrics)
  known.set(metrics, figures)
  const opened = await openEngine(engine, {
    supergraphSdl: supergraph,
    transport: figures.watchTransport(transport),
    planned: figures.planned,
    access: createAccessFilter(supergraph.access),
    log,
    operationTimeoutMs: remote.operationMs,
    answerBytes: remote.answerBytes,
    maxCost: remote.maxCost,
    slowMs: remote.slowMs,
    // Whoever develops sees what broke; elsewhere the log alone does.
    exposeInternalErrors: environment === 'development',
    exposePlans: environment === 'development',
  })
  return figures.watchEngine(opened)
}

/** The platform's own supergraph, as composed. */
export const ownSupergraph = (): Supergraph => readSupergraph(readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8'))
