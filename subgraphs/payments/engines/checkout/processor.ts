/** A page of the processor, as it describes it. */
export interface Page {
  /** `cs_…`. */
  readonly id: string
  /** Where it is shown; null once it is paid or over. */
  readonly url: string | null
  /** `OPEN`, `COMPLETE` or `EXPIRED`. */
  readonly status: string | null
  /** The payment that came of it; null until then. */
  readonly paymentIntentId: string | null
  /** The payment method that was left on it; null until then, and for a page on which somebody pays. */
  readonly paymentMethodId: string | null
}

/** A page on which an order is to be paid. */
export interface NewPage {
  readonly organizationId: string
  readonly key: string
  readonly title: string
  /** In minor units of the currency. */
  readonly amountMinor: bigint
  readonly currency: string
  /** Whether the money is only held. */
  readonly isHeld: boolean
  readonly successUrl: string
  readonly cancelUrl: string
  readonly expiresAt: Date
  /** Stands on the page, and on the payment that comes of it. */
  readonly metadata: Readonly<Record<string, string>>
}

/** A page on which a customer leaves a payment method. */
export interface NewSetupPage {
  readonly organizationId: string
  readonly key: string
  /** What the processor calls the customer: `cus_…`. */
  readonly customer: string
  readonly successUrl: string
  readonly cancelUrl: string
  readonly expiresAt: Date
  /** Stands on the page, and on what comes of it. */
  readonly metadata: Readonly<Record<string, string>>
}

/** Pages of the payment processor, as the gateway to providers offers them. Each call throws what the gateway refuses it with. */
export interface Pages {
  open(page: NewPage): Promise<Page | null>
  /** Opens one on which nothing is paid. */
  openSetup(page: NewSetupPage): Promise<Page | null>
  /** Closes a page that nobody has paid on; refused for any other. */
  close(organizationId: string, key: string, id: string): Promise<Page | null>
  read(organizationId: string, id: string): Promise<Page | null>
}
