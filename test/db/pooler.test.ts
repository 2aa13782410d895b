import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { checkConnection, connect, createOpenPool } from '../../db/connect.ts'
import { createTestDatabase } from '../kit/database.ts'

const log = pino({ level: 'silent' })
const pgbouncer = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find(existsSync)

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** A PgBouncer in front of a new, empty database. */
async function pooled(lines: string) {
  const database = await createTestDatabase({ empty: true })
  const folder = await mkdtemp(join(tmpdir(), 'pooler-'))
  const port = await freePort()
  const { hostname, port: behind, username, password, pathname } = new URL(database.url)
  const login = `user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}`
  const settings = `[databases]\n* = host=${hostname} port=${behind} ${login}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any\n${lines}\n`
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(file, settings)
  const isRoot = process.getuid?.() === 0
  await chmod(folder, 0o755)
  const child = spawn(pgbouncer!, [...(isRoot ? ['-u', 'nobody'] : []), file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', part => {
    said += part
  })
  await expect.poll(() => said, { timeout: 10_000 }).toContain('process up')
  return {
    url: `postgres://someone:nothing@127.0.0.1:${port}${pathname}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      await rm(folder, { recursive: true })
      await database.drop()
    },
  }
}

if (!pgbouncer) console.warn('left out: test/db/pooler.test.ts needs the program pgbouncer')

describe.skipIf(!pgbouncer)(`PgBouncer ${pgbouncer ? execFileSync(pgbouncer, ['--version']).toString().split('\n')[0]!.split(' ')[1] : ''}`, () => {
  const settings = `select current_setting('search_path') as path, current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement, current_setting('timezone') as zone`

  it.each([
    ['as it comes', ''],
    ['ignoring the start-up parameter options', 'ignore_startup_parameters = options'],
  ])('gives every connection its settings in session mode, %s', async (_, more) => {
    await using pooler = await pooled(`pool_mode = session\n${more}`)
    expect(await checkConnection(pooler.url)).toBeGreaterThanOrEqual(16)
    const { sequelize, close } = connect({ url: pooler.url, poolSize: 2, log })
    const pool = createOpenPool({ url: pooler.url, log })({ use: 'credentials', name: 'test', schema: 'identity' })
    try {
      const [rows] = await sequelize.query(settings)
      expect(rows).toEqual([{ path: '"$user", public', lock: '5s', statement: '8s', zone: 'UTC' }])
      expect((await pool.query(settings)).rows).toEqual([{ path: 'identity', lock: '5s', statement: '8s', zone: 'UTC' }])
    } finally {
      await Promise.all([close(), pool.end()])
    }
  })

  it.each([
    ['transaction mode', 'pool_mode = transaction'],
    ['transaction mode with one session', 'pool_mode = transaction\ndefault_pool_size = 1'],
    ['statement mode', 'pool_mode = statement'],
    ['session mode with one session', 'pool_mode = session\ndefault_pool_size = 1'],
  ])('is refused at the start in %s, with a line that names the mend', async (_, lines) => {
    await using pooler = await pooled(lines)
    const address = new URL(pooler.url).host
    await expect(checkConnection(pooler.url, 1_500)).rejects.toThrow(
      new RegExp(`^DATABASE_URL leads to ${address}, where a pooler lends its sessions .* set pool_mode = session there`),
    )
  })
})
