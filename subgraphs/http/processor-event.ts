import { DomainError } from '../../platform/errors.ts'

/** An event of the payment processor, as it is stored. */
export interface ReceivedEvent {
  readonly processorEventId: string
  readonly type: string
  /** Id of the object that it is about. */
  readonly objectId: string
  /** When it happened at the processor, to the second. */
  readonly occurredAt: Date
  /** Its body, without secrets of payers. */
  readonly payload: Readonly<Record<string, unknown>>
}

const isName = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value)

/** Whether a text can be kept: PostgreSQL's JSON holds neither null characters nor halves of characters. */
const isStorable = (text: unknown): boolean => typeof text !== 'string' || (text.isWellFormed() && !text.includes('\0'))

/**
 * Leaves out secrets with which a payer's browser speaks to the processor: events are shown to people who read the audit log.
 * @throws RangeError for text that cannot be kept
 */
function readMember(name: string, value: unknown): unknown {
  if (!isStorable(name) || !isStorable(value)) throw new RangeError('a text cannot be kept')
  return name === 'client_secret' ? undefined : value
}

/** Reads the body of an event. @throws BAD_USER_INPUT for what is none */
export function readEvent(body: Uint8Array): ReceivedEvent {
  const refuse = (field: string) => new DomainError('BAD_USER_INPUT', `${field} is not that of an event of the processor.`, { field })
  let payload: ReceivedEvent['payload']
  try {
    payload = Object(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body), readMember)) as ReceivedEvent['payload']
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
  return { processorEventId, type, objectId, occurredAt: new Date(Number(created) * 1000), payload }
}
