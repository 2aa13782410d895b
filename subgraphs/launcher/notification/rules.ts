import { DomainError } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import { exponents } from '../../currencies.ts'
import type { FactBody } from '../../store/fact-kinds.ts'
import type { Notice } from '../engines/notify/notify.ts'
import type { AccessRequestRow } from '../stores/access-request.ts'
import type { CatalogEntryRow } from '../stores/catalog-entry.ts'
import type { InstallationRow } from '../stores/installation.ts'

/** Maximum notifications that are marked at once. */
export const maxMarked = 100

/**
 * Reads which notifications are meant. @returns their ids, each once; null for all
 * @throws BAD_USER_INPUT unless exactly one of `ids` and `all` is given
 */
export function readMarked({
  ids,
  all,
}: {
  readonly ids?: readonly string[] | null | undefined
  readonly all?: boolean | null | undefined
}): readonly string[] | null {
  const given = ids ?? null
  if ((given !== null) === (all ?? false))
    throw new DomainError('BAD_USER_INPUT', 'Say which notifications by ids, or all of them by all: exactly one of the two.', {
      field: given === null ? 'ids' : 'all',
    })
  if (given === null) return null
  if (given.length < 1 || given.length > maxMarked)
    throw new DomainError('BAD_USER_INPUT', `ids has ${given.length} entries: it takes 1 to ${maxMarked}.`, { field: 'ids' })
  return [...new Set(given.map(id => requireId(id, 'ids')))]
}

/** Writes an amount for people: `12.50 EUR`, `1250 JPY`. */
function written(amountMinor: number, currency: string): string {
  const decimals = exponents.get(currency) ?? 2
  const digits = String(amountMinor).padStart(decimals + 1, '0')
  return decimals === 0 ? `${digits} ${currency}` : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)} ${currency}`
}

const plain = { severity: 'NORMAL', body: null, scope: null, userId: null } as const

/** Returns the notice of an order that was paid, or of one that was refunded. */
export const orderNotice = (
  kind: 'order.paid' | 'order.refunded',
  { organizationId, orderId, amountMinor, currency }: FactBody<'order.paid'>,
  publicUrl: string,
): Notice => ({
  ...plain,
  ...{ organizationId, audience: 'managers', app: 'payments', kind },
  title: `${written(amountMinor, currency)} ${kind === 'order.paid' ? 'paid for an order' : 'refunded for an order'}`,
  url: `${publicUrl}/payments/orders/${orderId}`,
})

const spent: Readonly<Record<string, { readonly severity: Notice['severity']; readonly share: string }>> = {
  SOFT: { severity: 'NORMAL', share: 'has passed its soft amount' },
  PERCENT_50: { severity: 'NORMAL', share: 'is half spent' },
  PERCENT_80: { severity: 'HIGH', share: 'is spent to 80 %' },
  PERCENT_95: { severity: 'HIGH', share: 'is spent to 95 %' },
  EXHAUSTED: { severity: 'CRITICAL', share: 'is spent: calls are refused' },
}

/** Returns the notice of a spend limit's alert: alerts of one limit join. The action item of the limit is what is mailed. */
export function budgetNotice({ organizationId, limitId, kind }: FactBody<'budget.alert'>, publicUrl: string): Notice {
  const { severity, share } = spent[kind] ?? { severity: 'NORMAL', share: 'has an alert' }
  return {
    ...plain,
    ...{ organizationId, audience: 'managers', app: 'providers', kind: 'budget.alert', severity, scope: limitId, isInAppOnly: true },
    title: `A spend limit ${share}`,
    url: `${publicUrl}/providers/api/limits/${limitId}`,
  }
}

/** Returns the notice of an app that was installed: for everybody of the organization, or for the person. */
export const installedNotice = (
  { organizationId, userId }: Pick<InstallationRow, 'organizationId' | 'userId'>,
  { title }: Pick<CatalogEntryRow, 'title'>,
  publicUrl: string,
): Notice => ({
  ...plain,
  ...{ organizationId, audience: organizationId === null ? 'person' : 'organization', userId, app: 'launcher', kind: 'app.installed' },
  title: `${title} was installed`,
  url: `${publicUrl}/launcher/apps`,
})

/** Returns the notice of a decision on a request, for the person who made it; null for the request of a key or a service. */
export const decidedNotice = (
  { organizationId, app, requestedBy, status, comment }: Pick<AccessRequestRow, 'organizationId' | 'app' | 'requestedBy' | 'status' | 'comment'>,
  title: string | null,
  publicUrl: string,
): Notice | null =>
  requestedBy === null
    ? null
    : {
        ...plain,
        ...{ organizationId, audience: 'person', userId: requestedBy, app: 'launcher', kind: 'ACCESS_DECIDED', body: comment },
        title: `Your request for ${title ?? app} was ${status === 'APPROVED' ? 'approved' : 'declined'}`,
        url: `${publicUrl}/launcher/apps`,
      }
