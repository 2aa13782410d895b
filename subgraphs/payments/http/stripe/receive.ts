import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import { newId } from '../../../../platform/ids.ts'
import { readEvent } from '../../../http/processor-event.ts'
import { requireSignature } from '../../../http/processor-signature.ts'
import type { WebhookEvents } from '../../stores/events/webhook-event.ts'

/** What events of the processor are received with. */
export interface Receiving {
  /** With what they may be signed; null: none are taken. */
  readonly secrets: readonly string[] | null
  readonly clock: Clock
  events(): Pick<WebhookEvents, 'keep'>
  /** Has the job look at once. */
  wake(): void
}

/**
 * Stores an event of the processor before it answers. The same event again is answered alike, and has no effect.
 * @throws BAD_USER_INPUT for a signature that is none of ours; nothing is stored then
 */
export async function receiveEvent({ secrets, clock, events, wake }: Receiving, request: Request): Promise<Response> {
  const body = new Uint8Array(await request.arrayBuffer())
  const now = clock.now()
  requireSignature(request.headers.get('stripe-signature'), body, secrets ?? [], now)
  const isNew = await events().keep({ id: newId(now), ...readEvent(body) }, now)
  crash('event-stored')
  if (isNew) wake()
  return Response.json({ received: true, duplicate: !isNew }, { headers: { 'cache-control': 'no-store' } })
}
