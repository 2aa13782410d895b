import type { Kept } from './kept.ts'

/** Where a router reads the SDL of its supergraph. */
export interface Source {
  /** Name in messages, without secrets. */
  readonly name: string
  /**
   * Reads the SDL to begin with. One that cannot be reached gives what was kept of it. @throws StartError when there is
   * none
   */
  read(): Promise<string>
  /** The last SDL of this source that was in use, from an earlier start too; null when none was kept. */
  kept(): Kept | null
  /** Keeps an SDL that is in use, for a start without the network. */
  keep(sdl: string): void
  /**
   * Looks for changes, after `read`.
   * @param changed uses the new SDL; resolves to whether it is in use
   */
  follow(changed: (sdl: string) => Promise<boolean>): Following
}

export interface Following {
  /** Looks at once. */
  look(): void
  stop(): void
}
