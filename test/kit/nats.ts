import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort, launch, until } from './launch.ts'
import { pidFile, removeRunFolder, runFolderVariable } from './run/folder.ts'

/** Whether NATS can be tried here. */
export const hasNats = spawnSync('nats-server', ['--version'], { stdio: 'ignore' }).status === 0

/** Why tests with it are left out where it is not. */
export const noNats = 'nats-server is not on the PATH (Debian: apt-get install nats-server)'

export interface NatsServer extends AsyncDisposable {
  readonly url: string
}

/** Starts a NATS server of a test's own. @param settings of its configuration file */
export async function natsServer(settings = ''): Promise<NatsServer> {
  const folder = mkdtempSync(join(process.env[runFolderVariable]!, 'nats-'))
  const port = await freePort()
  writeFileSync(join(folder, 'nats.conf'), `host: 127.0.0.1\nport: ${port}\npid_file: "${join(folder, pidFile)}"\n${settings}`)
  const server = launch('nats-server', ['-c', join(folder, 'nats.conf')])
  await until('NATS listens', () => listens(port))
  return {
    url: `nats://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.child.kill('SIGKILL')
      await server.ended
      removeRunFolder(folder)
    },
  }
}

const listens = (port: number) =>
  new Promise<boolean>(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    }).on('error', () => resolve(false))
  })
