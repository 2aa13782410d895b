import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { mp4 } from '../../test/subgraphs/publishing/media/files.ts'
import { demoOwner, startPlatform } from './platform.ts'

const [wholeBytes, partBytes] = [1024 ** 3, 8 * 1024 ** 2]
const everyMs = 250
const megabyte = 1024 ** 2

/**
 * Measures the memory of the processes through which a video of 1 GiB passes by tus, in one process and in distributed
 * mode.
 */
export async function measureUpload(only = /./): Promise<string> {
  const lines: string[] = []
  for (const [name, words] of [
    ['one process', []],
    ['apart', ['apart']],
  ] as const)
    if (only.test(name)) lines.push(...(await upload(name, words)))
  return `${wholeBytes / megabyte} MiB in parts of ${partBytes / megabyte} MiB.

| | MiB before | most | after | seconds |
| --- | --- | --- | --- | --- |
${lines.join('\n')}`
}

async function upload(name: string, words: readonly string[]): Promise<readonly string[]> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'bench-publishing-'))
  // Processes that it started end shortly after it.
  stack.defer(async () => {
    await wait(5_000)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const platform = await startPlatform(stack, { words, env: { DATA_DIR: folder, NODE_ENV: 'production' } })
  const { token, brandId } = await demoOwner(platform)
  const processes = words.length === 0 ? new Map([['the platform', platform.server.child.pid!]]) : partsOf(folder)
  const headers = { authorization: `Bearer ${token}`, 'tus-resumable': '1.0.0' }
  const metadata = `brandId ${btoa(brandId)},filename ${btoa('film.mp4')}`
  const uploads = `${platform.url}/publishing/api/media/uploads`
  const parts = partsOfFilm()
  await send(uploads, headers, metadata, [parts.next().value!.subarray(0, 4_000)], 4_000)

  const memories = () => new Map([...processes].map(([each, pid]) => [each, memoryOf(pid)]))
  const before = memories()
  const most = new Map(before)
  const looking = setInterval(() => {
    for (const [each, memory] of memories()) most.set(each, Math.max(memory, most.get(each)!))
  }, everyMs)
  const begin = performance.now()
  await send(uploads, headers, metadata, partsOfFilm(), wholeBytes)
  const seconds = (performance.now() - begin) / 1000
  await wait(2_000)
  clearInterval(looking)
  const after = memories()
  return [...processes.keys()].map(
    each => `| ${name}: ${each} | ${before.get(each)!.toFixed(0)} | ${most.get(each)!.toFixed(0)} | ${after.get(each)!.toFixed(0)} | ${seconds.toFixed(0)} |`,
  )
}

async function send(uploads: string, headers: Readonly<Record<string, string>>, metadata: string, parts: Iterable<Buffer>, bytes: number): Promise<void> {
  const made = await fetch(uploads, { method: 'POST', headers: { ...headers, 'upload-length': String(bytes), 'upload-metadata': metadata } })
  if (made.status !== 201) throw new Error(`the upload was refused: ${made.status} ${await made.text()}`)
  const place = new URL(made.headers.get('location')!, uploads)
  let offset = 0
  for (const part of parts) {
    const body = new Uint8Array(part)
    const taken = await fetch(place, {
      method: 'PATCH',
      headers: { ...headers, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' },
      body,
    })
    if (taken.status !== 204) throw new Error(`the part at ${offset} was refused: ${taken.status} ${await taken.text()}`)
    offset += part.length
  }
  if (offset !== bytes) throw new Error(`${offset} bytes were sent in place of ${bytes}`)
}

/** Yields a video of the length that its last box declares: a complete one of a second, followed by filler. */
function* partsOfFilm(): Generator<Buffer, undefined> {
  const padding = 1_000
  const film = mp4({ padding })
  const last = film.length - padding - 8
  film.writeUInt32BE(wholeBytes - last, last)
  const first = Buffer.alloc(partBytes, 7)
  film.copy(first)
  yield first
  const rest = Buffer.alloc(partBytes, 7)
  for (let sent = partBytes; sent < wholeBytes; sent += partBytes) yield rest
}

/** Returns the router's and publishing's processes of a distributed platform, by name. */
function partsOf(folder: string): Map<string, number> {
  if (!readdirSync(folder).includes('apart.json')) throw new Error('the platform does not run apart')
  const { processes } = JSON.parse(readFileSync(join(folder, 'apart.json'), 'utf8')) as { processes: { name: string; pid: number | null }[] }
  return new Map(processes.flatMap(({ name, pid }) => (pid !== null && /^(router|publishing)/.test(name) ? [[name, pid] as const] : [])))
}

const memoryOf = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
