import type { Logger } from 'pino'
import { Refusal } from '../errors.ts'
import { NotStored, type OpenStorage, type Storage } from './storage.ts'

/**
 * The same storage, whose accidents (a full disk, a folder that may not be written, a bucket that is silent) are told as what they are:
 * nothing was kept, and asking again helps. What it was stands in the log, for the words of a disk name its folders.
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
          throw Object.assign(new Refusal('UPSTREAM_FAILED', 'Where files are kept is away; try again in a moment.', { retryAfter: 5 }), { cause: error })
        })
    return { put: told(storage.put), get: told(storage.get), stat: told(storage.stat), remove: told(storage.remove) } satisfies Storage
  }
