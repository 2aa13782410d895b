import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** One process for as long as the machine is up: a pid alone is given to another process later. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in the words of the operating system: compared, never computed with. */
  readonly startedAt: string
}

/**
 * The identity of a living process; null when there is none.
 * A zombie counts as none: where process 1 does not reap, its pid answers signals for ever although nothing runs.
 */
export function identify(pid: number): ProcessIdentity | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null
  const startedAt = process.platform === 'linux' ? startedAtOnLinux(pid) : startedAtByPs(pid)
  return startedAt === null ? null : { pid, startedAt }
}

/** Whether exactly this process still runs. */
export const isAlive = (process: ProcessIdentity): boolean => identify(process.pid)?.startedAt === process.startedAt

/** Whether any process of a process group still runs; zombies do not count where they can be told apart. */
export function isGroupAlive(leader: number): boolean {
  if (process.platform !== 'linux') return signal(-leader, 0)
  return readdirSync('/proc').some(name => {
    const fields = /^\d+$/.test(name) ? fieldsOf(name) : null
    return fields !== null && fields[2] === String(leader) && !isGone(fields)
  })
}

/** The name of a process's program (at most 15 characters on Linux); '' when there is no such process. */
export function programOf(pid: number): string {
  if (process.platform === 'linux') return readOr(`/proc/${pid}/comm`, '').trim()
  const { stdout } = spawnSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' })
  return (stdout ?? '').trim().split('/').at(-1)!
}

/** Sends a signal; false when the process is gone already. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

function startedAtOnLinux(pid: number): string | null {
  const fields = fieldsOf(pid)
  if (fields === null || isGone(fields)) return null
  // The start time counts from the boot, so it says little without knowing which boot.
  return `${readOr('/proc/sys/kernel/random/boot_id', '').trim()}:${fields[19]}`
}

/** What proc(5) says of a process from its third field on: state first, then parent, process group, and at 19 the start time. */
function fieldsOf(pid: number | string): string[] | null {
  const stat = readOr(`/proc/${pid}/stat`, '')
  // The second field is the name in parentheses, which may hold spaces and parentheses itself.
  return stat === '' ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

const isGone = (fields: readonly string[]) => fields[0] === 'Z' || fields[0] === 'X'

function startedAtByPs(pid: number): string | null {
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8', env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' } })
  const [state = '', ...start] = (stdout ?? '').trim().split(/\s+/)
  return state === '' || state.startsWith('Z') ? null : start.join(' ')
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}
