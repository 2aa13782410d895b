import { newId } from '../../../../platform/ids.ts'
import { newVapidKey, publicOf } from '../../../../subgraphs/launcher/engines/notify/push/key.ts'
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
  const more = { body: null, url: 'http://localhost:4000/payments/orders', severity: 'NORMAL', scope, itemId: null, isInAppOnly: false } as const
  const arrived = await write(platform.launcher.job('test'), {
    run: ({ transaction, now }) => notifications.arrive({ ...notice, ...more, createdAt: now }, [userId], now, transaction),
  })
  return arrived[0]!.id
}

/** Has push messages sent to a browser of a person. @returns the subscription's id */
export async function seedPushSubscription({ platform }: Pick<Supergraph, 'platform'>, userId: string): Promise<string> {
  const { pushSubscriptions, push } = platform.launcher.job('test')
  const id = newId()
  const subscribed = { endpoint: 'https://push.example/1', p256dh: publicOf(newVapidKey()).toString('base64url'), auth: 'A'.repeat(22) }
  await write(platform.launcher.job('test'), {
    run: ({ transaction, now }) =>
      pushSubscriptions.insert({ id, userId, hash: id, sealed: push.seal(id, subscribed), createdAt: now, updatedAt: now, createdBy: 'test' }, transaction),
  })
  return id
}
