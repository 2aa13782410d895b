/**
 * Program that gives each of some processes the same short time slot of every turn, and stops them in between, which
 * simulates slow separate cores on one core. Arguments: process ids. It ends with its parent, and resumes all of them.
 */
const slotMs = 10
/** Number of slots in a turn. */
const slots = 4

const pids = process.argv.slice(2).map(Number)
if (pids.length > slots / 2) throw new Error(`At most ${slots / 2} processes have slots.`)
const signal = (pid: number, name: NodeJS.Signals) => {
  try {
    process.kill(pid, name)
  } catch {
    // It ended.
  }
}
let slot = 0
const turning = setInterval(() => {
  for (const [at, pid] of pids.entries()) if (slot !== at * 2) signal(pid, 'SIGSTOP')
  const next = slot % 2 === 0 ? pids[slot / 2] : undefined
  if (next !== undefined) signal(next, 'SIGCONT')
  slot = (slot + 1) % slots
}, slotMs)
process.on('disconnect', () => {
  clearInterval(turning)
  for (const pid of pids) signal(pid, 'SIGCONT')
  process.exit()
})
process.send?.({ begun: true })
