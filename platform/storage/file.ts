import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { checkedKey, NotStored, type OpenStorage, piecesOf, type Storage } from './storage.ts'

/** Folder for incomplete objects. No key begins with a dot, so none is in it. */
const unfinished = '.unfinished'
/** Time in ms after which incomplete objects of ended processes are removed. */
const leftMs = 86_400_000

/**
 * Stores objects as files of a folder. Each is written under a temporary name, and renamed once it is complete and on
 * the disk.
 * @param folder created when missing; all processes that share objects need the same one
 */
export function createFileStorage(folder: string): OpenStorage {
  let ready: Promise<void> | undefined
  const prepare = () => {
    ready ??= tidy(join(folder, unfinished)).catch(error => {
      ready = undefined
      throw error
    })
    return ready
  }
  return prefix => {
    const pathOf = (key: string) => join(folder, checkedKey(prefix, key))
    return {
      async put(key, body, { bytes }) {
        const path = pathOf(key)
        await prepare()
        const draft = join(folder, unfinished, randomUUID())
        try {
          await written(draft, piecesOf(body, bytes))
          await mkdir(dirname(path), { recursive: true })
          await rename(draft, path)
        } catch (error) {
          await rm(draft, { force: true })
          throw error
        }
      },
      async get(key, range) {
        const path = pathOf(key)
        const file = await open(path).catch(error => {
          throw isGone(error) ? new NotStored(key) : error
        })
        const part = range && { start: range.first, end: range.last }
        return Readable.toWeb(createReadStream(path, { fd: file, ...part })) as ReadableStream<Uint8Array>
      },
      async stat(key) {
        const found = await stat(pathOf(key)).catch(error => {
          if (isGone(error)) return null
          throw error
        })
        return found?.isFile() ? { bytes: found.size } : null
      },
      async remove(key) {
        await rm(pathOf(key), { force: true })
      },
    } satisfies Storage
  }
}

async function written(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const file: FileHandle = await open(path, 'wx')
  try {
    for await (const piece of pieces) {
      for (let at = 0; at < piece.byteLength; ) at += (await file.write(piece, at)).bytesWritten
    }
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Creates the folder, and removes abandoned temporary files. */
async function tidy(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const old = Date.now() - leftMs
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const found = await stat(path).catch(() => null)
    if (found && found.mtimeMs < old) await rm(path, { force: true })
  }
}

const isGone = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
