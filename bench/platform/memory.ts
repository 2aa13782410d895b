/**
 * Preloaded (`--import`), it lets PostgreSQL answer each read once and answers it from memory ever after: then what is measured is
 * the program in front of the database.
 */
import pg from 'pg'

type Done = (error: Error | null, result?: unknown) => void

/** Reads that differ beyond this are a mistake of the measurement: something in them changes with every operation. */
const mostAnswers = 1000
const answers = new Map<string, unknown>()
const { prototype } = pg.Client
const ask = prototype.query as (this: pg.Client, ...call: unknown[]) => unknown

prototype.query = function (this: pg.Client, ...call: unknown[]) {
  const [text] = call
  const done = call.at(-1) as Done
  if (typeof text !== 'string' || typeof done !== 'function' || !/^\s*(?:select|with)\b/i.test(text)) return ask.apply(this, call)
  const key = JSON.stringify(call.slice(0, -1))
  const known = answers.get(key)
  if (known !== undefined) {
    setImmediate(done, null, known)
    return
  }
  call[call.length - 1] = (error: Error | null, result?: unknown) => {
    if (!error && answers.size < mostAnswers) answers.set(key, result)
    done(error, result)
  }
  return ask.apply(this, call)
} as typeof prototype.query
