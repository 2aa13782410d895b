import { newId } from '../../../../platform/ids.ts'
import { write } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** Tells a person something, as the launcher does. @returns the notification's id */
export async function seedNotification(
  { platform }: Pick<Supergraph, 'platform'>,
  { organizationId, userId }: { readonly organizationId: string | null; readonly userId: string },
  scope: string | null = null,
): Promise<string> {
  const { notifications } = platform.launcher.job('test')
  const notice = { id: newId(), organizationId, audience: 'person', userId, app: 'payments', kind: 'order.paid', title: '12.50 EUR paid for an order' } as const
  const more = { body: null, url: 'http://localhost:4000/payments/orders', severity: 'NORMAL', scope } as const
  const arrived = await write(platform.launcher.job('test'), {
    run: ({ transaction, now }) => notifications.arrive({ ...notice, ...more, createdAt: now }, [userId], now, transaction),
  })
  return arrived[0]!.id
}
