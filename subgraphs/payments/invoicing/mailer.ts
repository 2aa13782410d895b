import type { Ask } from '../../../platform/ask.ts'
import { InvoiceMailAtProvidersDocument, SendInvoiceMailDocument } from '../ask.generated.ts'
import type { Mailer } from '../engines/invoicing/mail/send.ts'
import { forOrganization } from '../processor.ts'

/** Mails by the gateway to providers, from the organization's sender or the platform's. */
export const mailerBy = (ask: Ask): Mailer => ({
  async send({ organizationId, key: idempotencyKey, to, replyTo, subject, text, header, attachment }) {
    const headers = [
      { name: 'X-Supergraph-Mail', value: header },
      { name: 'Auto-Submitted', value: 'auto-generated' },
    ]
    const input = { to: [to], replyTo, subject, text, headers, attachments: [attachment], idempotencyKey }
    return (await ask(SendInvoiceMailDocument, { input }, forOrganization(organizationId))).sendEmail
  },

  look: async (organizationId, id) => (await ask(InvoiceMailAtProvidersDocument, { id }, forOrganization(organizationId))).emailMessage,
})
