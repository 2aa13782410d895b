import type { Running } from '../processes.ts'

/** A contender that answers. */
export interface Started {
  readonly running: Running
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}
