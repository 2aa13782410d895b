/** What Stripe's answers say when they refuse (https://docs.stripe.com/api/errors). */
export interface Complaint {
  readonly type: 'invalid_request_error' | 'card_error' | 'idempotency_error' | 'api_error'
  readonly message: string
  readonly code?: string
  readonly decline_code?: string
  /** The parameter that is wrong, as it was written: `items[0][price]`. */
  readonly param?: string
  readonly [other: string]: unknown
}

/** A refusal on its way to the door of the twin. */
export class StripeProblem extends Error {
  readonly status: number
  readonly complaint: Complaint
  /** Whether it came before anything was tried: such an answer is not kept for the idempotency key. */
  readonly isBefore: boolean
  constructor(status: number, complaint: Complaint, isBefore = false) {
    super(complaint.message)
    this.name = 'StripeProblem'
    this.status = status
    this.complaint = complaint
    this.isBefore = isBefore
  }
}

/** A parameter that cannot be taken. */
export const invalid = (message: string, param?: string, code?: string): StripeProblem =>
  new StripeProblem(400, { type: 'invalid_request_error', message, ...(param && { param }), ...(code && { code }) }, true)

/** What a call asks of an object that its state does not allow. */
export const notNow = (message: string, code: string, more: object = {}): StripeProblem =>
  new StripeProblem(400, { type: 'invalid_request_error', message, code, ...more })

/** An object that is not there: 404 for one that the path names, 400 for one that a parameter names. */
export const missing = (what: string, id: string, param: string | null): StripeProblem =>
  new StripeProblem(
    param === null ? 404 : 400,
    { type: 'invalid_request_error', code: 'resource_missing', message: `No such ${what}: '${id}'`, param: param ?? 'id' },
    true,
  )
