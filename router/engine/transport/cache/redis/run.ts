import { createHash } from 'node:crypto'

/** Runs a script. @throws when it fails, or does not answer within the time limit */
export type Command = (script: string, keys: readonly string[], values: readonly string[], limitMs?: number) => Promise<unknown>

const hashes = new Map<string, string>()

/** Creates a function that runs scripts by their hash, and sends those that the server does not know. */
export function createRunner(send: (words: readonly string[]) => Promise<unknown>, usualMs: number): Command {
  return (script, keys, values, limitMs = usualMs) => within(limitMs, run(script, keys, values))

  async function run(script: string, keys: readonly string[], values: readonly string[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...values]
    let hash = hashes.get(script)
    if (!hash) {
      hash = createHash('sha1').update(script).digest('hex')
      hashes.set(script, hash)
    }
    try {
      return await send(['EVALSHA', hash, ...rest])
    } catch (error) {
      if (!/^NOSCRIPT/.test((error as Error).message)) throw error
      return send(['EVAL', script, ...rest])
    }
  }
}

/** Rejects when a promise is not settled in time. An answer that has arrived while the process was busy is in time. */
function within<Value>(limitMs: number, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => setImmediate(() => reject(new Error(`no answer within ${limitMs} ms`))), limitMs)
    promise.then(resolve, reject).finally(() => clearTimeout(late))
  })
}
