import type { Ask } from '../../../../platform/ask.ts'
import { SendMailDocument } from '../../ask.generated.ts'
import { registration } from '../../registration.ts'
import type { MailOptions } from './mail.ts'

/** Hands mails over to the gateway, on the account of an organization or of the platform. */
export const sendBy =
  (ask: Ask): MailOptions['send'] =>
  async ({ to, subject, text, kind, organizationId, idempotencyKey }) => {
    const headers = [
      { name: 'X-Supergraph-Mail', value: kind },
      { name: 'Auto-Submitted', value: 'auto-generated' },
    ]
    const viewer = {
      ...{ userId: null, organizationId, roles: [], scopes: registration.asks },
      context: organizationId === null ? ('personal' as const) : ('organization' as const),
    }
    const { sendEmail } = await ask(SendMailDocument, { input: { to: [to], subject, text, headers, idempotencyKey } }, { appId: registration.appId, viewer })
    if (!sendEmail) throw new Error('providers answered without a mail')
    return sendEmail.id
  }
