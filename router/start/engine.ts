import type { Config } from '../../config.ts'
import type { Engine, EngineOptions } from '../engine/engine.ts'
import { createEngine } from '../engine/native/native.ts'

/** Opens the engine that the configuration names. The stock gateway is loaded only when it is the one. */
export async function openEngine(kind: Config['engine'], options: EngineOptions): Promise<Engine> {
  if (kind === 'native') return createEngine(options)
  const { openApolloEngine } = await import('../engine/apollo/stock.ts')
  return openApolloEngine(options)
}
