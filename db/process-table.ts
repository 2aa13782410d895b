import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** Identifies one process while the machine runs; the system reuses the pid alone. */
export interface ProcessIdentity {
  readonly pid: number
  /** Start time in the operating system's own format: compared, never computed with. */
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

/** Whether any process of a process group still runs; zombies are not counted where they can be distinguished. */
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

/** Sends a signal; false when the process has ended already. */
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
  // The start time counts from the boot, so the boot's id is added.
  return `${readOr('/proc/sys/kernel/random/boot_id', '').trim()}:${fields[19]}`
}

/** Returns the fields of proc(5) from the third on: state, parent, process group, …, and the start time at 19. */
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
