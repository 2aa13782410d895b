import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds for which the threads of a process were ready to run and had no core so far: what others of the machine cost it. */
export const waitedFor = (pid: number): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1_000_000

/** Milliseconds of processor time of all threads of a process so far, exactly: `/proc/PID/stat` counts in hundredths of a second. */
export const exactCpuOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]), 0) /
  1_000_000

/** Throws when what was counted is not what is right: then nothing measured means anything. */
export function check(what: string, counted: number, right: number): void {
  if (counted !== right) throw new Error(`${what}: ${counted} in place of ${right}`)
}

export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
