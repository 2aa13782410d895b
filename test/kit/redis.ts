import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort, launch, until } from './launch.ts'
import { pidFile, removeRunFolder, runFolderVariable } from './run/folder.ts'

/** Whether a Redis server can be tried here. */
export const hasRedis = spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0

/** Why tests with it are left out where it is not. */
export const noRedis = 'redis-server is not on the PATH (Debian: apt-get install redis-server)'

export interface RedisServer extends AsyncDisposable {
  readonly url: string
  /** Kills the server. */
  kill(): Promise<void>
  /** Starts it again on its port. */
  start(): Promise<void>
  /** Sends commands as `redis-cli` would, and returns what the server answers to them. */
  send(...words: readonly string[]): Promise<string>
}

/** Starts a Redis server of a test's own. @param settings of its configuration file */
export async function redisServer(settings = 'save ""\n'): Promise<RedisServer> {
  const folder = mkdtempSync(join(process.env[runFolderVariable]!, 'redis-'))
  const port = await freePort()
  writeFileSync(join(folder, 'redis.conf'), `bind 127.0.0.1\nport ${port}\ndir ${folder}\npidfile ${join(folder, pidFile)}\n${settings}`)
  let server: ReturnType<typeof launch> | null = null
  const kill = async () => {
    server?.child.kill('SIGKILL')
    await server?.ended
    server = null
  }
  const start = async () => {
    server = launch('redis-server', [join(folder, 'redis.conf')])
    await until('Redis answers', async () => (await send('PING').catch(() => '')) === '+PONG')
  }
  const send = (...words: readonly string[]) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(`*${words.length}\r\n${words.map(word => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`),
      )
      socket.once('data', data => {
        socket.destroy()
        resolve(String(data).trim())
      })
      socket.on('error', reject)
    })
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    start,
    send,
    async [Symbol.asyncDispose]() {
      await kill()
      removeRunFolder(folder)
    },
  }
}
