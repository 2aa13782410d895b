import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { dump } from '../../db/backup/dump.ts'
import { checkConnection, checkSessions, connect, createOpenPool } from '../../db/connect.ts'
import { watchDatabase } from '../../db/health.ts'
import { migrate } from '../../db/migrate.ts'
import { createReadiness } from '../../router/door/health.ts'
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
    /** Lets it read other settings while connections stand. */
    async change(lines: string) {
      const before = said.length
      await writeFile(file, settings.replace(/auth_type = any\n[\s\S]*/, `auth_type = any\n${lines}\n`))
      child.kill('SIGHUP')
      await expect.poll(() => said.slice(before), { timeout: 10_000 }).toMatch(/config|SIGHUP|reload/i)
    },
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

  const shared = (pooler: { readonly url: string }) =>
    new RegExp(`^DATABASE_URL leads to ${new URL(pooler.url).host}, where a pooler .* set pool_mode = session there`)

  it('finds every pool in its session when it checks, in session mode', async () => {
    await using pooler = await pooled('pool_mode = session')
    const { sequelize, close } = connect({ url: pooler.url, poolSize: 2, log })
    const open = createOpenPool({ url: pooler.url, log })
    const uses = ['credentials', 'jobs', 'events'] as const
    const pools = uses.map(use => open({ use, name: use, schema: 'identity' }))
    try {
      await expect(checkSessions(sequelize, open.checkSessions)).resolves.toBeUndefined()
    } finally {
      await Promise.all([close(), ...pools.map(pool => pool.end())])
    }
  })

  it('carries migrations and a backup in session mode, ignoring the start-up parameter options', async () => {
    await using pooler = await pooled('pool_mode = session\nignore_startup_parameters = options')
    const applied = await migrate({ url: pooler.url, directory: join(import.meta.dirname, '../../db/migrations'), slugs: ['launcher'], log })
    const lines = dump({ url: pooler.url, version: 'test', now: new Date(), files: [], dataDir: tmpdir() })
    let text = ''
    for await (const part of lines) text += part
    expect(applied).not.toEqual([])
    for (const name of applied) expect(text).toContain(name.split('/')[1])
  })

  it.each(['credentials', 'jobs', 'events'] as const)('refuses a connection for %s when the pooler resets sessions between statements', async use => {
    await using pooler = await pooled('pool_mode = transaction\nserver_reset_query_always = 1')
    const pool = createOpenPool({ url: pooler.url, log })({ use, name: use, schema: 'identity' })
    const { sequelize, close } = connect({ url: pooler.url, poolSize: 1, log })
    try {
      await expect(pool.query('select 1')).rejects.toThrow(shared(pooler))
      await expect(pool.query('select 1')).rejects.toThrow('search_path')
      await expect(checkSessions(sequelize, async () => {})).rejects.toThrow(shared(pooler))
    } finally {
      await Promise.all([close(), pool.end()])
    }
  })

  it('is not ready, with a line that names the pooler, when it begins to share sessions later', async () => {
    await using pooler = await pooled('pool_mode = session')
    const migrations = join(import.meta.dirname, 'none')
    await migrate({ url: pooler.url, directory: migrations, log })
    const { sequelize, close } = connect({ url: pooler.url, poolSize: 2, log })
    const open = createOpenPool({ url: pooler.url, log })
    const pool = open({ use: 'credentials', name: 'identity', schema: 'identity' })
    const watch = await watchDatabase({ sequelize, migrations, checkPools: open.checkSessions, log })
    try {
      const look = createReadiness(watch.readiness.filter(({ name }) => name === 'database'))
      expect(await look()).toEqual([{ name: 'database', ready: true }])
      await pooler.change('pool_mode = transaction')
      await expect.poll(look, { timeout: 20_000 }).toEqual([{ name: 'database', ready: false, reason: expect.stringMatching(shared(pooler)) }])
    } finally {
      watch.stop()
      await Promise.all([close(), pool.end()])
    }
  })
})
