import { DomainError } from '../../../../platform/errors.ts'
import type { Handlers } from '../../../http/handlers.ts'
import { readSigned } from '../../../http/signed.ts'
import type { At } from '../../context.ts'
import { readMessage } from '../../engines/notify/inbound.ts'
import { takeMessage } from './take.ts'

/** Where the notification service reports what it opens, closes and sends. */
export const serviceHandlers = ({ foundation: { clock }, services: { notificationService }, job }: At): Handlers => ({
  'POST /launcher/api/notifications/events': async request => {
    const body = await request.text()
    const signed = await readSigned({ headers: request.headers, body, secrets: notificationService?.secrets ?? [] }, clock.now())
    if ('wrong' in signed) {
      if (signed.wrong === 'old') throw new DomainError('BAD_USER_INPUT', 'The signature is older than 300 seconds: sign the message anew.')
      throw new DomainError('UNAUTHENTICATED', 'The message is not signed by the notification service.')
    }
    await takeMessage(job('notification-service'), signed.id, readMessage(body))
    return new Response(null, { status: 204 })
  },
})
