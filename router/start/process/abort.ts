/**
 * Waits for something that cannot be called off, but no longer than until the signal aborts: what it still does then ends with
 * the process.
 * @throws the signal's reason
 */
export function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  work.catch(() => {})
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
