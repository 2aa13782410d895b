/** What a call of a model used, as providers log it. */
export interface Usage {
  /** The call in providers' log. */
  readonly callId: string
  readonly costMicros: bigint
  readonly inputTokens: bigint
  readonly outputTokens: bigint
}

/** Reads what providers say of a call; what they do not count is 0. */
export const usageOf = (said: {
  readonly callId: string
  readonly costMicros?: number | string | null
  readonly inputTokens?: number | null
  readonly outputTokens?: number | null
}): Usage => ({
  callId: said.callId,
  costMicros: BigInt(said.costMicros ?? 0),
  inputTokens: BigInt(said.inputTokens ?? 0),
  outputTokens: BigInt(said.outputTokens ?? 0),
})
