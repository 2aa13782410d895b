/**
 * Waits for work that cannot be cancelled, but no longer than until the signal aborts: work that continues ends with
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
