import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createOutbound } from '../../../../platform/outbound/outbound.ts'
import type { Engine } from '../../../engine/engine.ts'
import { registerFigures } from '../../figure.ts'
import { collectForGraphos, type GraphosOptions } from './graphos.ts'
import { collectForHive, type HiveOptions } from './hive.ts'
import { type ObservingOptions, observe } from './observed.ts'
import { type SendingOptions, startSending } from './sending.ts'

export interface UsageExportOptions extends Pick<ObservingOptions, 'sampleRate' | 'random'>, Pick<SendingOptions, 'everyMs' | 'pauses'> {
  /** Null: nothing is sent there. */
  readonly hive: HiveOptions | null
  readonly graphos: GraphosOptions | null
  readonly log: Pick<Logger, 'error' | 'warn'>
  readonly metrics: Registry
}

/**
 * Sends which client used which operation to Hive and GraphOS, as far as they are configured.
 * @param stack collects the end: what was collected is sent before
 * @returns what wraps an engine to observe every operation; undefined where nothing is configured
 */
export function openUsageExport(
  { hive, graphos, sampleRate, random, everyMs, pauses, log, metrics }: UsageExportOptions,
  stack: AsyncDisposableStack,
): ((engine: Engine) => Engine) | undefined {
  const collectors = [hive && collectForHive(hive), graphos && collectForGraphos(graphos)].filter(each => each !== null)
  if (collectors.length === 0) return undefined
  const outbound = createOutbound([hive, graphos].flatMap(each => (each ? [new URL(each.endpoint).origin] : [])))
  const sending = startSending(collectors, { outbound, everyMs, pauses, log })
  stack.defer(async () => {
    await sending.stop()
    await outbound.close()
  })
  registerFigures(metrics, [sending.figure])
  return engine => observe(engine, sending.add, { sampleRate, random, log })
}
