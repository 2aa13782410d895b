import { createHash } from 'node:crypto'
import { DomainError } from '../../../../platform/errors.ts'
import { isId, newId } from '../../../../platform/ids.ts'
import type { Handler } from '../../../http/handlers.ts'
import { readSigned } from '../../../http/signed.ts'
import { step, write } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import { readMailAddress, sameAddress } from '../address.ts'
import { outcomeOf } from '../message/news.ts'
import { hear, type Report } from '../message/rules.ts'

/** A report of a mail server, checked. */
export interface EmailEvent {
  /** Id of the report, the same when it is repeated. */
  readonly id: string
  readonly type: Report
  readonly messageId: string
  readonly recipient: string
}

const stranger = (): DomainError => new DomainError('UNAUTHENTICATED', 'The signature of this report is not valid, or too old.')

/** @throws UNAUTHENTICATED for a report that is not signed, or too old */
async function requireSignature(headers: Headers, body: string, secret: string, now: Date): Promise<string> {
  const signed = await readSigned({ headers, body, secrets: [secret] }, now)
  if ('wrong' in signed) throw stranger()
  return signed.id
}

const types: readonly string[] = ['bounce', 'complaint', 'delivered']

/** @throws BAD_USER_INPUT for a body that is no report */
function readEvent(id: string, body: string): EmailEvent {
  const refuse = (field: string): never => {
    throw new DomainError('BAD_USER_INPUT', `${field} is not that of a report: { type: bounce, complaint or delivered, messageId, recipient, reason, at }.`, {
      field,
    })
  }
  let given: Record<string, unknown>
  try {
    given = Object(JSON.parse(body))
  } catch {
    return refuse('body')
  }
  const { type, messageId, recipient, at } = given
  if (typeof type !== 'string' || !types.includes(type)) return refuse('type')
  if (typeof messageId !== 'string' || messageId.length > 500 || /[\0\s]/.test(messageId.trim())) return refuse('messageId')
  const address = typeof recipient === 'string' ? readMailAddress(recipient) : null
  if (address === null) return refuse('recipient')
  if (at !== undefined && at !== null && (typeof at !== 'string' || Number.isNaN(Date.parse(at)))) return refuse('at')
  return { id, type: type as Report, messageId: messageId.trim(), recipient: address }
}

/** Applies a report once, however often it is sent; a report about an unknown mail has no effect. */
export async function act(job: Job, { id, type, messageId, recipient }: EmailEvent): Promise<void> {
  const { emailMessages, emailSuppressions } = job
  const key = createHash('sha256').update(id).digest('base64url')
  const named = await emailMessages.byMessageId(messageId.startsWith('<') ? messageId : `<${messageId}>`)
  if (named === null || !isId(named)) {
    await write(job, { run: ({ transaction, now }) => emailMessages.hear(key, now, transaction) })
    return
  }
  await step(job, {
    of: emailMessages,
    hold: named,
    async decide(row, unit) {
      if (!(await emailMessages.hear(key, unit.now, unit.transaction))) return null
      const address = row.recipients.find(each => sameAddress(each.address) === sameAddress(recipient))?.address
      const changes = address === undefined ? null : hear(row, type, address, unit.now)
      if (address !== undefined && type !== 'delivered') {
        const by = { organizationId: row.organizationId, reason: type, createdAt: unit.now, createdBy: 'email' }
        await emailSuppressions.ensure({ ...by, id: newId(unit.now), address: sameAddress(address) }, unit.transaction)
      }
      return { changes: changes ?? {}, isNews: changes !== null }
    },
    facts: ({ before, after }) => outcomeOf(before, after),
  })
}

export interface EventsOptions {
  readonly job: () => Job
  /** Secret of the reports; null if none are expected. */
  readonly secret: string | null
  readonly now: () => Date
}

/** Handles reports of mail servers. */
export const eventsHandler =
  ({ job, secret, now }: EventsOptions): Handler =>
  async request => {
    const body = await request.text()
    if (secret === null) throw stranger()
    const id = await requireSignature(request.headers, body, secret, now())
    await act(job(), readEvent(id, body))
    return new Response(null, { status: 204 })
  }
