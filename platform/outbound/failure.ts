/** Error code for an address that is not public. */
export const notPublicCode = 'ENOTPUBLIC'

/**
 * `late`: a time-out. `left`: the caller left. `large`: the answer is too long. `broken`: anything else, such as a cut
 * connection.
 */
export type FailureKind = 'late' | 'left' | 'large' | 'broken'

/** No answer arrived. `sent` false: nothing reached the other side. True: it may have acted, the outcome is unknown. */
export class OutboundFailure extends Error {
  readonly sent: boolean
  readonly kind: FailureKind
  constructor(message: string, sent: boolean, cause?: unknown, kind: FailureKind = 'broken') {
    super(message, { cause })
    this.name = 'OutboundFailure'
    this.sent = sent
    this.kind = kind
  }
}

/** Whether the address itself was rejected, so that repeating the call is pointless. */
export const isRefusedAddress = (error: unknown): boolean =>
  error instanceof OutboundFailure && (error.cause as { readonly code?: string } | undefined)?.code === notPublicCode
