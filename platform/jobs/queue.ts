export type JobData = Readonly<Record<string, string>>

/** What a handler may answer: that the wake-up was early, and when it is to come again. */
export type JobOutcome = { readonly again: Date } | undefined

/** What happens on a wake-up. It may come twice, early, late, or for a row that has moved on: the handler looks. */
export interface JobQueue {
  readonly name: string
  /** How many run at once in one process. @default 32 */
  readonly concurrency?: number
  /** Which jobs share something that is slow, such as a connection: of one group only a few run at once, in all processes together. */
  groupOf?(data: JobData): string | null
  /** How many of one group run at once. @default 4 */
  readonly perGroup?: number
  /**
   * Each job ends independently of the others. A thrown error makes the wake-up come again, at most three times, and so
   * does one that has not ended after 60 s; after that the sweep is what finds the row.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that has nothing to say returns nothing
  handle(data: JobData): Promise<JobOutcome | void>
}

/** Work that is looked for rather than sent: runs every so many milliseconds in each process, never twice at a time. */
export interface Sweep {
  readonly name: string
  readonly everyMs: number
  /** Whether its rounds wait for third parties, who may be silent: then one is not late before its time is over, a minute. @default false */
  readonly asksOthers?: boolean
  run(): Promise<void>
  /** Receives, when the sweep is opened, a function that starts a round early: at once, or after so many ms. */
  wakes?(wake: (ms?: number) => void): void
}
