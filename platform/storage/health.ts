import { randomUUID } from 'node:crypto'
import type { Storage } from './storage.ts'

/** Checks whether objects can be stored. */
export interface StorageHealth {
  /** Resolves once an object was written and removed again. @throws the storage's error */
  write(): Promise<void>
  /**
   * Checks whether objects can be stored; a result is cached for half a minute, so health checks of many callers cost
   * one write.
   * @returns a notice for operators when they cannot; never rejects, because everything but uploads works without a
   * storage
   */
  check(): Promise<string | undefined>
}

/** Time in ms for which a result is cached. */
const standsMs = 30_000
/** Time limit in ms of a check: less than the two seconds of a readiness check. */
const timeoutMs = 1_500

const probe = new TextEncoder().encode('probe')

/**
 * Checks a storage by writing to it: a read-only disk, a full disk or a bucket without rights answers reads as if all
 * were well.
 * @param storage with a prefix of its own
 * @param name    the storage as an operator knows it, e.g. `STORAGE_DIR /data/storage`
 * @param elapsed monotonic clock in ms @default the process's own
 */
export function createStorageHealth(storage: Storage, name: string, elapsed: () => number = () => performance.now()): StorageHealth {
  let looked = Number.NEGATIVE_INFINITY
  let notice: string | undefined
  let looking: Promise<void> | undefined
  const write = async () => {
    const key = `probes/${randomUUID()}`
    await storage.put(key, probe, { contentType: 'text/plain', bytes: probe.byteLength })
    await storage.remove(key)
  }
  const look = async () => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
    })
    const writing = write()
    writing.catch(() => {})
    try {
      await Promise.race([writing, late])
      notice = undefined
    } catch (error) {
      notice = `${name} cannot be written (${reasonOf(error)}): uploads fail until it can`
    } finally {
      clearTimeout(timer)
      looked = elapsed()
    }
  }
  return {
    write,
    async check() {
      if (elapsed() - looked >= standsMs) {
        looking ??= look().finally(() => {
          looking = undefined
        })
        await looking
      }
      return notice
    },
  }
}

/** Returns the system's error code or the first line of the message, without any path, key or address of a bucket. */
export function reasonOf(error: unknown): string {
  const { code, message, cause } = error as { code?: unknown; message?: unknown; cause?: unknown }
  if (cause) return reasonOf(cause)
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return code
  return typeof message === 'string' ? (message.split('\n')[0] ?? '').slice(0, 200) : 'unknown'
}
