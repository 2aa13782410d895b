import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** What a command came to. `output` is the end of what it printed, 200,000 characters at most. */
export interface Outcome {
  /** Null when a signal or its time limit ended it. */
  readonly exitCode: number | null
  readonly output: string
}

export interface CommandOptions {
  readonly seconds: number
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly folder?: string | undefined
}

/**
 * Runs a command in a process group of its own and passes on what it prints. At its time limit the group gets TERM, 10 s later KILL.
 * Never throws: a program that is not there is an outcome too.
 */
export function run([program, ...args]: readonly string[], { seconds, env = {}, folder }: CommandOptions): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const child = spawn(program!, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const keep = (part: Buffer, to: NodeJS.WriteStream) => {
    to.write(part)
    output = (output + part.toString()).slice(-200_000)
  }
  child.stdout.on('data', part => keep(part, process.stdout))
  child.stderr.on('data', part => keep(part, process.stderr))
  const timers = [
    setTimeout(() => signalGroup(child.pid, 'SIGTERM'), seconds * 1000),
    setTimeout(() => signalGroup(child.pid, 'SIGKILL'), (seconds + 10) * 1000),
  ]
  const end = (exitCode: number | null) => {
    for (const timer of timers) clearTimeout(timer)
    resolve({ exitCode, output })
  }
  child.on('error', error => {
    output += error.message
    end(null)
  })
  // Not `close`: a process left behind by the command may keep its output open.
  child.on('exit', exitCode => setTimeout(() => end(exitCode), 50))
  return promise
}

/** Signals a process and all that it started; nothing when they are gone. */
export function signalGroup(pid: number | undefined, name: NodeJS.Signals): void {
  if (!pid) return
  try {
    process.kill(-pid, name)
  } catch {
    // The process has ended meanwhile.
  }
}

/** Says whether a program is in a folder of the PATH. */
export const isInstalled = (program: string): boolean =>
  (process.env.PATH ?? '').split(':').some(folder => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
