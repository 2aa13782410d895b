// Plain JavaScript, because the peers' processes use it as well as ours.

/**
 * Lets the parent process have this one work in turns: answers `{ answer }` once, then for each `{ milliseconds }` it works
 * that long, one operation after the other, and tells `{ operations, microseconds }` of processor time (all threads).
 * @param {() => Promise<string>} work one operation, answered as JSON text
 */
export async function takeTurns(work) {
  process.on('disconnect', () => process.exit())
  process.on('message', async ({ milliseconds }) => {
    const before = process.cpuUsage()
    const end = performance.now() + milliseconds
    let operations = 0
    while (performance.now() < end) {
      await work()
      operations++
      // Apart from promises nothing would ever run: sockets and timers of the work want their turn too.
      if (operations % 16 === 0) await new Promise(setImmediate)
    }
    const { user, system } = process.cpuUsage(before)
    process.send({ operations, microseconds: user + system })
  })
  process.send({ answer: await work() })
}
