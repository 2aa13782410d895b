/**
 * Named places where a test kills the process, to prove that a crash there neither loses nor doubles anything. Armed
 * only by configuration outside production; otherwise each is one comparison.
 */
let armed: string | null = null

/** Arms one crash point for this process; null disarms. */
export function armCrash(name: string | null): void {
  armed = name
}

/** Ends the process as a power failure would, if this point is armed: no handler runs, nothing is flushed. */
export function crash(name: string): void {
  if (armed === name) process.kill(process.pid, 'SIGKILL')
}
