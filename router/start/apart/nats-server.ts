import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Part } from './keep.ts'

/** Whether the program is on the PATH. */
export const hasNatsServer = (): boolean => spawnSync('nats-server', ['--version'], { stdio: 'ignore' }).status === 0

/** Instructions for a machine without nats-server. */
export const howToGetNats =
  'PostgreSQL carries the events between processes (NOTIFY); for NATS install nats-server (Debian: apt-get install nats-server) or set NATS_URL'

/**
 * Shell script that starts and ends nats-server: nats-server does not notice when its parent process is gone, but the
 * shell does, by the end of its input.
 */
const tied =
  'exec 3<&0; nats-server -c "$1" & nats=$!; trap "kill $nats" TERM INT HUP; { cat <&3 >/dev/null; kill $nats; } 2>/dev/null & wait $nats; status=$?; kill $nats 2>/dev/null; exit $status'

interface NatsOptions {
  readonly folder: string
  readonly port: number
  readonly token: string
  readonly environment: NodeJS.ProcessEnv
}

/**
 * Describes a NATS server for the processes of this machine; its settings, with their token, are in a file that only
 * this user can read.
 */
export function natsServer({ folder, port, token, environment }: NatsOptions): { readonly part: Part; readonly url: string } {
  const file = join(folder, 'nats.conf')
  writeFileSync(
    file,
    `host: 127.0.0.1\nport: ${port}\nauthorization { token: "${token}" }\nlog_file: "${join(folder, 'nats.log')}"\nlogfile_size_limit: 1048576\n`,
    { mode: 0o600 },
  )
  return {
    part: { name: 'nats', command: 'sh', parameters: ['-c', tied, 'nats-server', file], environment },
    url: `nats://${token}@127.0.0.1:${port}`,
  }
}
