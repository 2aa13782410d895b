/** Something that is repeated at intervals. */
export interface Poll {
  /** Ends it. Resolves when nothing of it runs any more. */
  stop(): Promise<void>
}

/**
 * Repeats work: each time the pause begins when the former work has ended. Work must not throw.
 * @param pauseMs returns the pause before the next time
 */
export function poll(work: () => Promise<void>, pauseMs: () => number): Poll {
  let isOver = false
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout
  const schedule = () => {
    timer = setTimeout(() => {
      running = work().finally(() => {
        if (!isOver) schedule()
      })
    }, pauseMs())
  }
  schedule()
  return {
    async stop() {
      isOver = true
      clearTimeout(timer)
      await running
    },
  }
}
