import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { newId } from '../../../../platform/ids.ts'
import type { EventPayload, WebhookEventRow, WebhookEvents } from '../../stores/events/webhook-event.ts'
import { requireSignature } from './signature.ts'

/** What events of the processor are received with. */
export interface Receiving {
  /** With what they may be signed; null: none are taken. */
  readonly secrets: readonly string[] | null
  readonly clock: Clock
  events(): Pick<WebhookEvents, 'keep'>
  /** Has the job look at once. */
  wake(): void
}

type NewEvent = Pick<WebhookEventRow, 'processorEventId' | 'type' | 'objectId' | 'occurredAt' | 'payload'>

const isName = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value)

/** Leaves out secrets with which a payer's browser speaks to the processor: events are shown to people who read the audit log. */
const withoutSecrets = (name: string, value: unknown): unknown => (name === 'client_secret' ? undefined : value)

/** Reads the body of an event. @throws BAD_USER_INPUT for what is none */
export function readEvent(body: Uint8Array): NewEvent {
  const refuse = (field: string) => new DomainError('BAD_USER_INPUT', `${field} is not that of an event of the processor.`, { field })
  let payload: EventPayload
  try {
    payload = Object(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body), withoutSecrets)) as EventPayload
  } catch {
    throw refuse('body')
  }
  const { id: processorEventId, type, created } = payload
  if (!isName(processorEventId)) throw refuse('id')
  if (!isName(type)) throw refuse('type')
  if (!Number.isSafeInteger(created) || Number(created) < 0 || Number(created) > 99_999_999_999) throw refuse('created')
  const { object } = Object(payload.data ?? {}) as { readonly object?: unknown }
  const { id: objectId } = Object(object ?? {}) as { readonly id?: unknown }
  if (!isName(objectId)) throw refuse('data.object.id')
  // PostgreSQL keeps no null characters in its JSON.
  if (JSON.stringify(payload).includes('\\u0000')) throw refuse('body')
  return { processorEventId, type, objectId, occurredAt: new Date(Number(created) * 1000), payload }
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
