/**
 * Time in ms for which another SIGINT counts as an echo of the first Ctrl-C: the terminal sends one to every process,
 * and npm forwards its own.
 */
const echoMs = 400

/**
 * Distinguishes a second Ctrl-C from the echoes of the first.
 * @param now monotonic clock in ms
 * @returns a function to call with every SIGINT: whether a person pressed again
 */
export function createPresses(now: () => number = () => performance.now()): () => boolean {
  let first: number | null = null
  return () => {
    first ??= now()
    return now() - first > echoMs
  }
}
