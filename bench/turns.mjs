// Plain JavaScript, because the peers' processes use it as well as ours.

/**
 * Lets the parent process have this one work in turns: answers `{ answer }` once, then for each `{ milliseconds }` it works
 * that long, one piece of work after the other, and tells `{ operations, microseconds }` of processor time (all threads).
 * @param {() => Promise<unknown>} work one operation, or several at once
 * @param {{ operations?: number, answer?: string, others?: () => number }} [told] how many operations it is (1), what is told as the
 *   answer in place of its own, and the microseconds that other processes have spent so far which count as well
 */
export async function takeTurns(work, { operations: each = 1, answer, others = () => 0 } = {}) {
  process.on('disconnect', () => process.exit())
  process.on('message', async ({ milliseconds }) => {
    const before = process.cpuUsage()
    const othersBefore = others()
    const end = performance.now() + milliseconds
    let operations = 0
    for (let turns = 1; performance.now() < end; turns++) {
      await work()
      operations += each
      // With promises alone nothing else would ever run: sockets and timers want their turn too.
      if (turns % 16 === 0) await new Promise(setImmediate)
    }
    const { user, system } = process.cpuUsage(before)
    process.send({ operations, microseconds: user + system + others() - othersBefore })
  })
  process.send({ answer: answer ?? (await work()) })
}
