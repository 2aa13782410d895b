import type { Noun } from '../../wiring/define.ts'
import { mailOutbox, reminders } from '../engines/invoicing/mail/send.ts'
import { creditNoteResolvers } from '../invoicing/credit-note/resolvers.ts'
import { invoiceResolvers } from '../invoicing/invoice/resolvers.ts'
import type { At } from './services.ts'

/** Invoices, their mails, and what corrects them. */
export const invoicingNouns: Readonly<Record<string, Noun<At>>> = {
  'invoicing/invoice': {
    resolvers: invoiceResolvers,
    sweeps: ({ job }) => [mailOutbox(() => job('mails')), reminders(() => job('mails'))],
    close: ({ services: { printer } }) => printer.stop(),
  },
  'invoicing/credit-note': { resolvers: creditNoteResolvers },
}
