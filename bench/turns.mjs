// Plain JavaScript, because the peers' processes use it as well as ours.

/**
 * Lets the parent process have this one work in turns: answers `{ answer }` once, then for each `{ milliseconds }` it works
 * that long, one piece of work after the other, and tells `{ operations, microseconds }` of processor time (all threads).
 * @param {() => Promise<unknown>} work one operation, or several at once
 * @param {{ operations?: number, answer?: string }} [told] how many operations it is (1), and what is told as the answer in place of its own
 */
export async function takeTurns(work, { operations: each = 1, answer } = {}) {
  process.on('disconnect', () => process.exit())
  process.on('message', async ({ milliseconds }) => {
    const before = process.cpuUsage()
    const end = performance.now() + milliseconds
    let operations = 0
    for (let turns = 1; performance.now() < end; turns++) {
      await work()
      operations += each
      // With promises alone nothing else would ever run: sockets and timers want their turn too.
      if (turns % 16 === 0) await new Promise(setImmediate)
    }
    const { user, system } = process.cpuUsage(before)
    process.send({ operations, microseconds: user + system })
  })
  process.send({ answer: answer ?? (await work()) })
}
