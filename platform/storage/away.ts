import type { Logger } from 'pino'
import { DomainError } from '../errors.ts'
import { NotStored, type OpenStorage, type Storage } from './storage.ts'

/**
 * Wraps a storage so that its failures (a full disk, a read-only folder, a silent bucket) are errors that tell the
 * client to retry, because nothing was stored. The original error is logged only, because a disk's messages name
 * folders.
 */
export const tellingAway =
  (open: OpenStorage, log: Pick<Logger, 'error'>): OpenStorage =>
  prefix => {
    const storage = open(prefix)
    const told =
      <Given extends readonly unknown[], Result>(act: (key: string, ...more: Given) => Promise<Result>) =>
      (key: string, ...more: Given): Promise<Result> =>
        act(key, ...more).catch(error => {
          if (error instanceof NotStored) throw error
          log.error({ err: error, key: `${prefix}/${key}` }, 'file storage failed')
          throw Object.assign(new DomainError('UPSTREAM_FAILED', 'The file storage is not available; try again in a moment.', { retryAfter: 5 }), {
            cause: error,
          })
        })
    return { put: told(storage.put), get: told(storage.get), stat: told(storage.stat), remove: told(storage.remove) } satisfies Storage
  }
