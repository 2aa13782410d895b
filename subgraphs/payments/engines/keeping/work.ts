import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import type { Writing } from '../../../store/books.ts'
import type { CustomerRow, Customers } from '../../stores/parties/customer.ts'
import type { PaymentMethods } from '../../stores/parties/payment-method.ts'
import type { PaymentMethodSessions } from '../../stores/parties/payment-method-session.ts'
import type { Pages } from '../checkout/processor.ts'

/** A payment method as the processor knows it. */
export interface ProcessorMethod {
  /** `pm_…`. */
  readonly id: string
  readonly brand: string | null
  readonly last4: string | null
  readonly expMonth: number | null
  readonly expYear: number | null
}

/** Customers and their methods at the payment processor, as the gateway to providers offers them. */
export interface Methods {
  /** Makes a customer there, which is told our id alone. @returns the processor's id of it */
  makeCustomer(customer: CustomerRow): Promise<string>
  /** Attaches a method to a customer of the processor; one that is attached to it already is answered alike. @param method.key the same for each try */
  attach(organizationId: string, method: { readonly customerId: string; readonly token: string; readonly key: string }): Promise<ProcessorMethod>
  /** Detaches a method; one that is not attached any more is left alone. */
  detach(organizationId: string, method: { readonly id: string; readonly processorId: string }): Promise<void>
}

/** What payment methods are kept with that customers leave on a page: everybody's rows, or those that a viewer may see. */
export interface KeepingWork extends Writing {
  readonly customers: Customers
  readonly paymentMethods: PaymentMethods
  readonly paymentMethodSessions: PaymentMethodSessions
  readonly pages: Pages
  readonly methods: Methods
  readonly clock: Clock
  readonly log: Logger
}
