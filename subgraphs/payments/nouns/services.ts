import type { Base, Running } from '../../wiring/define.ts'
import { KeyMakerDocument, OrganizationNameDocument } from '../ask.generated.ts'
import type { Job, Quotas, Services, stores } from '../context.ts'
import { openPrinter } from '../engines/invoicing/pdf/printer.ts'
import { delivering } from '../engines/outgoing/deliver.ts'
import { keepUnderway } from '../engines/payment/underway.ts'
import { processing } from '../engines/webhook/process.ts'
import type { Addresses } from '../http/service-identity.ts'
import { handlers } from '../http/stripe/handlers.ts'
import { mailerBy } from '../invoicing/mailer.ts'
import { methodsBy } from '../parties/payment-method/processor.ts'
import { evidenceBy, pagesBy, processorBy, transfersBy } from '../processor.ts'
import { registration } from '../registration.ts'

/** What payments is told by configuration. */
export interface PaymentsSettings {
  readonly quotas: Quotas
  readonly addresses: Addresses
  /** With what the processor signs its events; null: none are taken. */
  readonly signedBy: { readonly stripe: readonly string[] | null }
  /** Where the submitter of settlement batches is told of them, and with what that is signed. */
  readonly callbacks: { readonly url: string | null; readonly secrets: readonly string[] | null }
}

/** Payments as its nouns see it. */
export type At = Running<typeof stores, Services, PaymentsSettings>

/** For how long an answer waits for the processor, in ms. */
const answersWithinMs = 8_000

/** What a merchant is called whose organization's name cannot be had: a person may change it. */
const namelessMerchant = 'Default merchant'

/** Creates payments' services besides its stores. */
export function services({ foundation, settings, log, job }: Base<Job, PaymentsSettings>): Services {
  const { ask, callersWay, cipher, clock, environment, events, outbound, publicUrl } = foundation
  const { quotas, callbacks } = settings
  const { appId } = registration
  return {
    ...{ ask, callersWay, cipher, clock, events, log, outbound, publicUrl, quotas },
    processor: processorBy(ask),
    transfers: transfersBy(ask),
    evidence: evidenceBy(ask),
    methods: methodsBy(ask),
    callbackTarget: callbacks.url && callbacks.secrets ? { url: callbacks.url, secrets: callbacks.secrets } : null,
    outgoing: delivering(() => job('webhooks')),
    processing: processing<Job>(() => job('processor'), handlers, environment === 'production'),
    pages: pagesBy(ask),
    mailer: mailerBy(ask),
    printer: openPrinter(),
    answersWithinMs,
    underway: keepUnderway(error => log.error({ err: error }, 'an outcome could not be recorded; the processor is asked again when the lease is over')),
    jobFor: job,
    makerOf: async (id, organizationId) => {
      const viewer = { userId: null, organizationId, roles: [], scopes: [], context: 'organization' as const }
      return (await ask(KeyMakerDocument, { id }, { appId, viewer })).apiKeyMaker
    },
    nameOf: async viewer => {
      const { viewer: known } = await ask(OrganizationNameDocument, {}, { appId, viewer })
      return known?.organization?.name ?? namelessMerchant
    },
  }
}
