/** Runs work when its turn has come. @param who whose it is */
export type InTurn = <Result>(who: string, work: () => Promise<Result>) => Promise<Result>

/**
 * Lets one piece of work be under way at a time, for what takes much memory or time of the process. Whoever has several waiting has the next
 * one begun after everybody else who waits has had one.
 */
export function createTurns(): InTurn {
  /** What waits, by whose it is; whose turn is next comes first. */
  const lines = new Map<string, (() => void)[]>()
  let isBusy = false
  const next = () => {
    const [first] = lines
    isBusy = first !== undefined
    if (!first) return
    const [who, line] = first
    lines.delete(who)
    const begin = line.shift()!
    if (line.length > 0) lines.set(who, line)
    begin()
  }
  return async (who, work) => {
    if (isBusy)
      await new Promise<void>(begin => {
        const line = lines.get(who)
        if (line) line.push(begin)
        else lines.set(who, [begin])
      })
    isBusy = true
    try {
      return await work()
    } finally {
      next()
    }
  }
}
