import type { BrandRow } from '../../stores/brand.ts'
import type { WebhookEndpointRow } from '../../stores/news/webhook.ts'

/** Whether an address came with its brand from another organization and waits for the present one's word. */
export const isResting = (
  { active, organizationId }: Pick<WebhookEndpointRow, 'active' | 'organizationId'>,
  brand: Pick<BrandRow, 'organizationId'>,
): boolean => active && organizationId !== brand.organizationId

/** Returns a sentence about why an endpoint receives no deliveries; null when it receives them. */
export function silenceOf(endpoint: WebhookEndpointRow, brand: Pick<BrandRow, 'organizationId'>): string | null {
  if (!endpoint.active) return endpoint.disabledReason ?? 'Somebody switched it off.'
  return !isResting(endpoint, brand)
    ? null
    : 'The brand has come from another organization: look at the address, confirm it, and rotate its secret if the former organization is to sign nothing more.'
}
