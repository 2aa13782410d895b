import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { identify, signal } from '../../db/process-table.ts'
import { openStage, type Stage } from '../chaos/stage.ts'
import { type DataFolder, newDataFolder, until } from '../kit/launch.ts'
import { tcpProxy } from '../kit/tcp-proxy.ts'

/** Whether the slow rows of the table are tried too: `FAULTS=1`, as `.ci/run` does. */
const all = Boolean(process.env.FAULTS)

/** How many posts fall due while the fault lasts. */
const due = 6

const table: string[][] = []
afterAll(() => {
  const heads = ['fault', 'clients saw', 'due posts', 'seconds until well']
  for (const row of [heads, ...table]) console.log(`| ${row.join(' | ')} |`)
})

/** Reads and writes by turns, four times a second, as clients do, until it is stopped. */
function watch(stage: Stage) {
  const seen = new Map<string, number>()
  let slowest = 0
  let turn = 0
  const read = () => stage.codeOf('{ viewer { organization { brands { nodes { id name } } } } }')
  const write = () =>
    stage.codeOf('mutation($input: CreatePostInput!) { createPost(input: $input) { id } }', {
      input: { brandId: stage.brandId(), platform: 'X', copy: 'a draft' },
    })
  const timer = setInterval(async () => {
    const began = performance.now()
    const reads = turn++ % 2 === 0
    const answer = `${reads ? 'read' : 'write'} ${await (reads ? read() : write())}`
    seen.set(answer, (seen.get(answer) ?? 0) + 1)
    slowest = Math.max(slowest, performance.now() - began)
  }, 250)
  return {
    stop: () => clearInterval(timer),
    summary: () =>
      `${[...seen]
        .sort()
        .map(([answer, count]) => `${answer} × ${count}`)
        .join(', ')}; slowest ${(slowest / 1000).toFixed(1)} s`,
  }
}

const isReady = async (stage: Stage) => (await fetch(`${stage.url}/health/ready`).catch(() => null))?.status === 200

interface Fault {
  readonly stage: Stage
  readonly name: string
  /** Begins it; what it returns ends it, where it does not end by itself. */
  begin(): Promise<void | (() => Promise<void>)> | void | (() => Promise<void>)
  /** How soon all must be well after it began, or was ended, in seconds. */
  readonly wellWithin: number
}

/** Lets a fault meet due posts and clients, and writes its row: every post must be published once, and the platform be well. */
async function meet({ stage, name, begin, wellWithin }: Fault): Promise<void> {
  const posts = await Promise.all(Array.from({ length: due }, (_, at) => stage.schedule(`${name} ${at}`, 2_500)))
  const clients = watch(stage)
  try {
    const end = await begin()
    await end?.()
    const began = performance.now()
    await until(
      'the platform is well',
      async () =>
        (await isReady(stage)) &&
        (await stage.read([posts[0]!.id]).then(
          () => true,
          () => false,
        )),
      90,
    )
    await until(
      'the posts are settled',
      async () => (await stage.read(posts.map(({ id }) => id)).catch(() => [])).filter(({ status }) => status === 'PUBLISHED').length === due,
      90,
    )
    const seconds = (performance.now() - began) / 1000
    const published = (await stage.published()).map(({ text }) => text)
    table.push([name, clients.summary(), `${due} of ${due} published once`, seconds.toFixed(1)])
    expect(published.sort()).toEqual(posts.map(({ copy }) => copy).sort())
    expect(await stage.refusedCreations()).toEqual([])
    expect(seconds).toBeLessThan(wellWithin)
  } finally {
    clients.stop()
  }
}

const seconds = (count: number) => new Promise<void>(resolve => setTimeout(resolve, count * 1000))

describe('a fault of the database neither loses nor duplicates a post, and is recovered from without help:', () => {
  test('connections that fall silent', { timeout: 180_000 }, async () => {
    await using stage = await openStage()
    await using proxy = await tcpProxy(stage.databaseUrl)
    const platform = await stage.start({ DATABASE_URL: proxy.url })
    await meet({ stage, name: 'all connections silent, new ones work', begin: () => proxy.silence(), wellWithin: 40 })
    proxy.silence()
    proxy.silenceNew(true)
    const began = performance.now()
    platform.child.kill('SIGTERM')
    await platform.ended
    console.log(`TERM while every connection is silent: gone after ${((performance.now() - began) / 1000).toFixed(1)} s`)
    expect(performance.now() - began).toBeLessThan(10_000)
  })

  test('sessions that are killed', { timeout: 180_000 }, async () => {
    await using stage = await openStage()
    await stage.start()
    await stage.schedule('signs in', 600_000)
    const sessions = `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name like 'supergraph%'`
    const busy = Promise.all(Array.from({ length: 100 }, () => stage.codeOf('{ viewer { organization { brands { nodes { id } } } } }')))
    let most = 0
    let answered = false
    busy.finally(() => {
      answered = true
    })
    while (!answered) most = Math.max(most, (await stage.sql<{ n: number }>(sessions))[0]!.n)
    // One of the sessions belongs to the test.
    console.log(`sessions of a busy platform: ${most - 1}`)
    expect(most - 1).toBeLessThanOrEqual(30)
    const kill = async () =>
      void (await stage.sql('select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'))
    await meet({ stage, name: 'all sessions killed', begin: kill, wellWithin: 20 })
  })

  test('a server that is killed', { timeout: 180_000 }, async () => {
    await using stage = await openStage()
    const platform = await stage.start({ DATABASE_URL: '', LOG_LEVEL: 'warn' })
    const before = stage.folder.postgres()!
    await meet({ stage, name: 'embedded server killed (KILL)', begin: () => void signal(before.pid, 'SIGKILL'), wellWithin: 30 })
    const lines = platform
      .said()
      .split('\n')
      .filter(line => line.startsWith('{'))
    expect(lines.filter(line => line.includes('PostgreSQL ended unexpectedly'))).toHaveLength(1)
    expect(lines.length).toBeLessThan(60)
  })

  test.runIf(all)('new connections that are silent too, for ten seconds', { timeout: 180_000 }, async () => {
    await using stage = await openStage()
    await using proxy = await tcpProxy(stage.databaseUrl)
    await stage.start({ DATABASE_URL: proxy.url })
    const begin = () => {
      proxy.silence()
      proxy.silenceNew(true)
      return async () => {
        await seconds(10)
        proxy.silenceNew(false)
      }
    }
    await meet({ stage, name: 'all connections silent, new ones too, for 10 s', begin, wellWithin: 40 })
  })

  test.runIf(all)('a disk that does not respond for six seconds', { timeout: 180_000 }, async ({ skip }) => {
    if (process.platform !== 'linux') skip('finds the processes of the server in /proc')
    await using stage = await openStage()
    await stage.start({ DATABASE_URL: '' })
    const server = stage.folder.postgres()!.pid
    const begin = () => {
      // Stops all sessions: one that waits for its disk does nothing, nor do background writers.
      const children = childrenOf(server)
      for (const pid of children) signal(pid, 'SIGSTOP')
      return async () => {
        await seconds(6)
        for (const pid of children) signal(pid, 'SIGCONT')
      }
    }
    await meet({ stage, name: 'every process of the server stopped for 6 s', begin, wellWithin: 30 })
  })

  test.runIf(all)('a disk that is full for six seconds', { timeout: 180_000 }, async ({ skip }) => {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) skip('mounts a small disk, which only root on Linux can')
    await using folder = newDataFolder()
    using disk = smallDisk(folder)
    if (!disk.mounted) skip('a file system cannot be mounted here')
    await using stage = await openStage()
    await stage.start({ DATABASE_URL: '', DATA_DIR: disk.path })
    const health = async () => (await (await fetch(`${stage.url}/health/ready`)).json()) as { detail?: string }
    const begin = async () => {
      disk.fill()
      await until('readiness tells of the full disk', async () => (await health()).detail?.includes('writes (the disk of the database is full)'))
      return async () => {
        await seconds(6)
        disk.free()
      }
    }
    await meet({ stage, name: 'disk full for 6 s', begin, wellWithin: 40 })
  })
})

const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter(pid => {
      if (!pid || !identify(pid)) return false
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent
    })

/** A disk of 200 MB in memory, for one data folder. */
function smallDisk(folder: DataFolder) {
  const path = join(folder.path, 'disk')
  mkdirSync(path)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200m,mode=0755', 'tmpfs', path]).status === 0
  const filler = join(path, 'filler')
  return {
    path: join(path, 'data'),
    mounted,
    fill: () => {
      for (let size = 1 << 24; size >= 4096; size = size >> 1) {
        try {
          for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' })
        } catch {
          // No space for this size: tries a smaller one.
        }
      }
    },
    free: () => rmSync(filler),
    [Symbol.dispose]: () => {
      if (mounted) spawnSync('umount', ['-l', path])
    },
  }
}
