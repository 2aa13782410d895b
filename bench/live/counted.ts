import { readdirSync, readFileSync } from 'node:fs'

/**
 * Returns the milliseconds for which a process's threads were ready to run without a core: the influence of other
 * processes.
 */
export const waitedFor = (pid: number): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1_000_000

/**
 * Returns the processor time in ms of all threads of a process, exactly: `/proc/PID/stat` counts in hundredths of a
 * second.
 */
export const exactCpuOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]), 0) /
  1_000_000

/** Throws when a count is wrong, because the measurement is invalid then. */
export function check(what: string, counted: number, right: number): void {
  if (counted !== right) throw new Error(`${what}: ${counted} in place of ${right}`)
}

export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
