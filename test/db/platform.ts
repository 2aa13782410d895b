import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const program = join(import.meta.dirname, 'platform-process.ts')

/** A program that holds a data folder and its PostgreSQL. */
export interface Platform {
  readonly child: ChildProcess
  /** What it said when it was up. @throws with what it said instead */
  ready(): Promise<{ url: string; recovered: string; lockRecovered: boolean }>
  /** Signals it and resolves with its exit code when it is gone. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Starts the program on a folder, as another user when asked to. */
export function startPlatform(folder: string, { end = 'wait', account }: { end?: 'wait' | 'uncaught'; account?: { uid: number; gid: number } } = {}): Platform {
  const child = spawn(process.execPath, [program, folder, end], { stdio: ['ignore', 'pipe', 'pipe'], ...account })
  let said = ''
  let complained = ''
  child.stdout.on('data', chunk => {
    said += chunk
  })
  child.stderr.on('data', chunk => {
    complained += chunk
  })
  const closed = once(child, 'close')
  return {
    child,
    async ready() {
      await until(() => said.includes('\n') || child.exitCode !== null || child.signalCode !== null)
      if (said.includes('\n')) return JSON.parse(said)
      await closed
      throw new Error(complained.trim())
    },
    async end(signal) {
      child.kill(signal)
      await closed
      return child.exitCode
    },
  }
}

/** Waits for a condition, 20 s at most. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + 20_000; !(await condition()); await wait(3)) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${condition}`)
  }
}
