import { type WriteTransaction, writeFacts } from '../../../store/books.ts'
import type { FactBody } from '../../../store/fact-kinds.ts'
import type { Context } from '../../context.ts'
import type { BrandRow } from '../../stores/brand.ts'
import type { Resting } from '../../stores/news/webhook.ts'

const keyOf = ({ id }: Pick<BrandRow, 'id'>): string => `resting:${id}`

const inWords = ({ webhooks, feed }: Resting): string =>
  [webhooks === 1 ? 'a webhook' : webhooks > 1 ? `${webhooks} webhooks` : '', feed ? 'a calendar feed' : ''].filter(Boolean).join(' and ')

/**
 * Returns the attention fact that asks the managers of a brand's new organization to check and confirm its webhooks and
 * feeds.
 */
function attentionOf({ id, name, organizationId }: BrandRow, resting: Resting, publicUrl: string, at: Date): FactBody<'attention.opened'> {
  return {
    key: keyOf({ id }),
    kind: 'WEBHOOK_RESTING',
    organizationId,
    subjectId: id,
    title: `“${name}” came with ${inWords(resting)} of its former organization: confirm or delete what rests`,
    url: `${publicUrl}/publishing/api/webhooks?brandId=${id}`,
    at: at.toISOString(),
    audience: 'managers',
    body: 'Nothing is sent to a webhook, and no calendar is answered, until a member of this organization confirms it, because the person who set it up still knows its secret or its address.',
  }
}

type Telling = Pick<Context, 'webhookEndpoints' | 'publicUrl'> & Parameters<typeof writeFacts>[0]

/**
 * Publishes to the managers of a brand's organization which webhooks and feeds await confirmation, or that none does.
 * Called in the transaction of every confirmation or removal.
 */
export async function tellResting(context: Telling, brand: BrandRow, unit: WriteTransaction): Promise<void> {
  const resting = await context.webhookEndpoints.restingOf(brand, unit.transaction)
  const facts =
    resting.webhooks > 0 || resting.feed
      ? ([{ kind: 'attention.opened', body: attentionOf(brand, resting, context.publicUrl, unit.now) }] as const)
      : ([{ kind: 'attention.closed', body: { key: keyOf(brand) } }] as const)
  await writeFacts(context, facts, unit)
}

/**
 * Publishes, after a brand has moved, what awaits confirmation: closes the former organization's item and opens one for
 * the new organization.
 */
export async function tellRestingMoved(context: Telling, before: BrandRow, after: BrandRow, unit: WriteTransaction): Promise<void> {
  const [was, is] = [await context.webhookEndpoints.restingOf(before, unit.transaction), await context.webhookEndpoints.restingOf(after, unit.transaction)]
  // Closed first, so that the former organization's item does not stay open.
  if (was.webhooks > 0 || was.feed) await writeFacts(context, [{ kind: 'attention.closed', body: { key: keyOf(before) } }], unit)
  if (is.webhooks > 0 || is.feed) await tellResting(context, after, unit)
}
