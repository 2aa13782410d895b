/**
 * The crash point that is armed, if any. Tests kill the process at such points to prove that a crash there neither
 * loses nor duplicates anything. Only configuration outside production arms one; otherwise each point is one
 * comparison.
 */
let armed: string | null = null

/** Arms one crash point for this process; null disarms. */
export function armCrash(name: string | null): void {
  armed = name
}

/** Ends the process like a power failure, if this point is armed: no handler runs, nothing is flushed. */
export function crash(name: string): void {
  if (armed === name) process.kill(process.pid, 'SIGKILL')
}
