/** The parts of an operation that readers use. */
export interface Reading {
  /** Disables caching in loaders: for work that outlives its reads. @default false */
  readonly fresh?: boolean
  /** Party under which its reads take turns at the pool. @default the organization of the present work */
  readonly party?: string | undefined
  /** Aborts when the caller no longer waits for the answer. */
  readonly signal: AbortSignal
  /**
   * Reports characters read for the operation; a negative number releases characters of discarded reads.
   * @throws BAD_USER_INPUT once they are more than one operation may hold
   */
  read(characters: number): void
  /**
   * Runs a statement of the operation; only a few of one operation run at once, so that others get connections between
   * them.
   * @throws BAD_USER_INPUT above the number of statements that one operation may send
   */
  statement<Result>(run: () => Promise<Result>): Promise<Result>
}
