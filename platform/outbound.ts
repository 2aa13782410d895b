/** HTTP to third parties: the only way out of the platform. */
export interface Outbound {
  /**
   * Sends one request; never retries, never follows a redirect.
   * @throws OutboundFailure: `sent` tells whether the other side may have acted on it
   */
  (url: string | URL, options?: OutboundOptions): Promise<OutboundAnswer>
}

export interface OutboundOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Until the whole answer is there. @default 10000 */
  readonly timeoutMs?: number
}

export interface OutboundAnswer {
  readonly status: number
  readonly headers: Headers
  /** The body as text, at most 1 MiB. */
  readonly text: string
}

/** No answer came. `sent` false: refused before a byte went out. True: the outcome is unknown. */
export class OutboundFailure extends Error {
  readonly sent: boolean
  constructor(message: string, sent: boolean, cause?: unknown) {
    super(message, { cause })
    this.name = 'OutboundFailure'
    this.sent = sent
  }
}
