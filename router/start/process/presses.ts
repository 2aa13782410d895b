/** How long after a Ctrl-C another SIGINT counts as its echo, in milliseconds: the terminal sends one to every process, and npm passes its own on. */
const echoMs = 400

/**
 * Tells a second Ctrl-C from the echoes of the first.
 * @param now milliseconds that only grow
 * @returns called with every SIGINT: whether a person pressed again
 */
export function createPresses(now: () => number = () => performance.now()): () => boolean {
  let first: number | null = null
  return () => {
    first ??= now()
    return now() - first > echoMs
  }
}
