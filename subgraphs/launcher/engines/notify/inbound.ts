import { z } from 'zod'
import { DomainError } from '../../../../platform/errors.ts'
import { isId } from '../../../../platform/ids.ts'

/** Slug under which items of the notification service are listed. */
export const serviceApp = 'notifications'

const id = z.string().refine(isId)
/** Whether the database holds a text: none with NUL or half a character. */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
const moment = z.iso.datetime({ offset: true })
const maybe = <Type extends z.ZodType>(type: Type) => type.nullish().transform(value => value ?? null)

/** What the notification service says of an item, or of news. */
const item = z
  .object({
    id: z.string().min(1).max(200).refine(isStorable),
    kind: maybe(z.string().regex(/^[A-Za-z][A-Za-z0-9_.]{0,63}$/)),
    title: z.string().trim().min(1).max(300).refine(isStorable),
    body: maybe(z.string().max(4_000).refine(isStorable)),
    url: maybe(
      z
        .url({ protocol: /^https?$/ })
        .max(2_000)
        .refine(isStorable),
    ),
    severity: maybe(z.enum(['CRITICAL', 'HIGH', 'NORMAL', 'LOW'])),
    organizationId: maybe(id),
    userId: maybe(id),
    at: maybe(moment),
    dueAt: maybe(moment),
    scope: maybe(z.string().min(1).max(120).refine(isStorable)),
  })
  .refine(({ organizationId, userId }) => organizationId !== null || userId !== null)

export type ServiceItem = z.infer<typeof item>

/** A message of the notification service. */
const message = z.object({ type: z.enum(['item.opened', 'item.closed', 'notification.sent']), timestamp: moment, data: item })

export type ServiceMessage = z.infer<typeof message>

/** Reads an item; null for an invalid one. */
export const readItem = (given: unknown): ServiceItem | null => item.safeParse(given).data ?? null

const expected = '{ type: item.opened, item.closed or notification.sent, timestamp, data: { id, title, organizationId or userId, … } }'

/** Reads a message. @throws BAD_USER_INPUT with the field that is wrong */
export function readMessage(body: string): ServiceMessage {
  let given: unknown
  try {
    given = JSON.parse(body)
  } catch {
    throw new DomainError('BAD_USER_INPUT', `The body is no JSON: expected ${expected}.`, { field: 'body' })
  }
  const read = message.safeParse(given)
  if (read.success) return read.data
  const field = read.error.issues[0]?.path.join('.') || 'body'
  throw new DomainError('BAD_USER_INPUT', `${field} is not that of a message: expected ${expected}.`, { field })
}
