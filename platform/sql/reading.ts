/** What readers know of the operation that they read for. */
export interface Reading {
  /** Reads everything anew each time: for work that outlives what it has read. @default false */
  readonly fresh?: boolean
  /** With whom its reads take turns at the pool. @default the organization that present work is done for */
  readonly party?: string | undefined
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  /**
   * Reports characters read for the operation; a negative number releases characters of discarded reads.
   * @throws BAD_USER_INPUT once they are more than one operation may hold
   */
  read(characters: number): void
  /**
   * Runs a statement of the operation: a few of one operation run at once, so that others get connections between them.
   * @throws BAD_USER_INPUT once they are more than one operation may send
   */
  statement<Result>(run: () => Promise<Result>): Promise<Result>
}
