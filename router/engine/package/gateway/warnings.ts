import { type GatewayConfig, sourceKindOf } from '../config.ts'

/** Returns lines about options that are deprecated, or without effect. */
export function warningsOf(config: GatewayConfig): string[] {
  const lines: string[] = []
  if (config.pollIntervalInMs && 'serviceList' in config)
    lines.push(
      'Polling running services is dangerous and not recommended in production. Polling should only be used against a registry. If you are polling running services, use with caution.',
    )
  if ('schemaConfigDeliveryEndpoint' in config)
    lines.push('The `schemaConfigDeliveryEndpoint` option is deprecated: use `uplinkEndpoints`, a list of addresses, instead.')
  if (sourceKindOf(config) === 'managed' && 'pollIntervalInMs' in config)
    lines.push('The `pollIntervalInMs` option is deprecated: use `fallbackPollIntervalInMs` instead, which counts where it is longer than what GraphOS says.')
  const idle = [
    'experimental_autoFragmentization',
    ...Object.keys(config.queryPlannerConfig ?? {})
      .filter(name => name !== 'cache')
      .map(name => `queryPlannerConfig.${name}`),
  ]
  const given = idle.filter(name => name.startsWith('queryPlannerConfig.') || name in config)
  if (given.length > 0) lines.push(`Without effect here: ${given.join(', ')}`)
  return lines
}
