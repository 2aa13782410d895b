import type { Config } from '../../../config.ts'
import { StartError } from '../../../start-error.ts'
import type { UsageExportOptions } from '../../metrics/usage/export/export.ts'

/** Returns where reports of use go. @throws StartError for half of a setting */
export function exportersOf({
  usage,
  supergraphs,
}: Pick<Config, 'usage' | 'supergraphs'>): Pick<UsageExportOptions, 'hive' | 'graphos' | 'everyMs' | 'sampleRate'> {
  const { hiveTarget, hiveToken, hiveEndpoint, apolloEndpoint, exportMs, sampleRate } = usage
  const { apolloKey, apolloGraph } = supergraphs
  if ((hiveTarget === null) !== (hiveToken === null))
    throw new StartError(`${hiveTarget === null ? 'HIVE_TARGET' : 'HIVE_ACCESS_TOKEN'}: missing, reports to Hive need both HIVE_TARGET and HIVE_ACCESS_TOKEN`)
  return {
    hive: hiveTarget !== null && hiveToken !== null ? { target: hiveTarget, token: hiveToken, endpoint: hiveEndpoint } : null,
    graphos: apolloKey !== null && apolloGraph !== null ? { key: apolloKey, graphRef: apolloGraph, endpoint: apolloEndpoint } : null,
    everyMs: exportMs,
    sampleRate,
  }
}
