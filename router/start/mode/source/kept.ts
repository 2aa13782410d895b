import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A supergraph that was in use, as it is kept on disk. */
export interface Kept {
  readonly sdl: string
  /** By what its source knows this version: an ETag, or an id; null when it has none. */
  readonly tag: string | null
  /** The address that gave it, by its number. */
  readonly from: number
  /** When it was taken into use: ISO 8601, UTC. */
  readonly at: string
}

/** The file of one source in the folder. */
export interface DiskCache {
  /** Returns what was kept; null when there is none, or it cannot be read. */
  read(): Kept | null
  /** Replaces what was kept, in one step. @throws what the system says when it cannot be written */
  write(kept: Kept): void
}

/**
 * Opens the file of a source. It is made at the first write.
 * @param source what distinguishes it from others: only its hash is written, because addresses may hold secrets
 */
export function openDiskCache(folder: string, source: string): DiskCache {
  const path = join(folder, `${createHash('sha256').update(source).digest('hex').slice(0, 32)}.json`)
  return {
    read() {
      try {
        const kept = JSON.parse(readFileSync(path, 'utf8')) as Kept
        return typeof kept.sdl === 'string' && !Number.isNaN(Date.parse(kept.at)) ? kept : null
      } catch {
        return null
      }
    },
    write(kept) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      // Routers beside this one may write the same file.
      const fresh = `${path}.${process.pid}`
      writeFileSync(fresh, JSON.stringify(kept), { mode: 0o600 })
      renameSync(fresh, path)
    },
  }
}
