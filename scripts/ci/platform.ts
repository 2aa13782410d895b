import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { signalGroup } from './commands.ts'

/** A platform that runs as a user starts it, on a data folder of its own. */
export interface Platform {
  readonly url: string
  readonly data: string
  /** Sends TERM to npm. @returns whether within 20 s nothing of the platform was left; what was left is killed */
  stop(): Promise<boolean>
}

/** Returns a port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  server.close()
  return port
}

/** Starts a platform and waits a minute for its ready line. @returns null when it did not come; its log is printed then */
export async function startPlatform(
  [program, ...args]: readonly string[],
  options: { readonly data: string; readonly folder?: string | undefined; readonly env?: Readonly<Record<string, string>> | undefined },
): Promise<Platform | null> {
  const { data } = options
  const port = await freePort()
  const logPath = `${data}.log`
  const log = openSync(logPath, 'w')
  const child = spawn(program!, args, {
    cwd: options.folder,
    env: { ...process.env, ...options.env, DATA_DIR: data, PORT: String(port), SANDBOX_PORT: '0' },
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const stop = () => stopPlatform(child, data)
  for (let tenths = 0; tenths < 600; tenths++) {
    if (/^ready in/m.test(readFileSync(logPath, 'utf8'))) return { url: `http://localhost:${port}`, data, stop }
    if (child.exitCode !== null) break
    await wait(100)
  }
  console.log(readFileSync(logPath, 'utf8'))
  await stop()
  return null
}

async function stopPlatform(child: ChildProcess, data: string): Promise<boolean> {
  const isThere = () => child.exitCode === null && child.signalCode === null
  if (isThere()) child.kill('SIGTERM')
  for (let tenths = 0; tenths < 200; tenths++) {
    if (!isThere() && !existsSync(join(data, 'lock')) && !existsSync(join(data, 'postgres/data/postmaster.pid'))) return true
    await wait(100)
  }
  signalGroup(child.pid, 'SIGKILL')
  return false
}
