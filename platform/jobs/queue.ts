export type JobData = Readonly<Record<string, string>>

/** Result of a handler: whether the wake-up was early, and when it is to be repeated. */
export type JobOutcome = { readonly again: Date } | undefined

/**
 * Handler of a queue. A wake-up may come twice, early, late, or for a row that has changed since: the handler reads the
 * row.
 */
export interface JobQueue {
  readonly name: string
  /** Maximum concurrent jobs in one process. @default 32 */
  readonly concurrency?: number
  /**
   * Returns the group of a job, such as its connection: jobs of one group share a slow resource, so only a few of them
   * run at once, over all processes.
   */
  groupOf?(data: JobData): string | null
  /** Maximum concurrent jobs of one group. @default 4 */
  readonly perGroup?: number
  /**
   * Handles a job; each ends independently of the others. After a thrown error, or after 60 s, the wake-up is repeated,
   * at most three times; then only the sweep finds the row.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that has nothing to say returns nothing
  handle(data: JobData): Promise<JobOutcome | void>
}

/** Work that finds its own tasks: it runs at an interval in each process, never twice at a time. */
export interface Sweep {
  readonly name: string
  readonly everyMs: number
  /**
   * Whether the queue's runs wait for third parties, which may not answer: a run counts as late only after its time
   * limit of one minute. @default false
   */
  readonly asksOthers?: boolean
  run(): Promise<void>
  /** Receives, when the sweep is opened, a function that starts a run early: at once, or after a number of ms. */
  wakes?(wake: (ms?: number) => void): void
}
