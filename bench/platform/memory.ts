/**
 * Preloaded (`--import`), it answers each of PostgreSQL's reads from memory after the first time, so that only the
 * program before the database is measured.
 */
import pg from 'pg'
import { Batch } from '../../platform/sql/batch.ts'

type Done = (error: Error | null, result?: unknown) => void

/** Number of different reads above which the measurement is wrong: something in them changes with every operation. */
const mostAnswers = 1000
const answers = new Map<string, unknown>()
const { prototype } = pg.Client
const ask = prototype.query as (this: pg.Client, ...call: unknown[]) => unknown

const isRead = (text: string) => /^\s*(?:select|with)\b/i.test(text)

function keep(key: string, result: unknown): void {
  if (answers.size < mostAnswers) answers.set(key, result)
}

prototype.query = function (this: pg.Client, ...call: unknown[]) {
  const [asked] = call
  if (asked instanceof Batch) {
    if (!asked.statements.every(({ text }) => isRead(text))) return ask.apply(this, call)
    const keys = asked.statements.map(({ text, values }) => JSON.stringify([text, values]))
    const known = keys.map(key => answers.get(key) as unknown[] | undefined)
    const { done } = asked
    if (known.every(rows => rows !== undefined)) {
      setImmediate(done, { rows: known, unread: null })
      return
    }
    asked.done = outcome => {
      if ('rows' in outcome) for (const [at, key] of keys.entries()) keep(key, outcome.rows[at])
      done(outcome)
    }
    return ask.apply(this, call)
  }
  // Sequelize asks with a text and a callback.
  const done = call.at(-1) as Done
  if (typeof asked !== 'string' || typeof done !== 'function' || !isRead(asked)) return ask.apply(this, call)
  const key = JSON.stringify(call.slice(0, -1))
  const known = answers.get(key)
  if (known !== undefined) {
    setImmediate(done, null, known)
    return
  }
  call[call.length - 1] = (error: Error | null, result?: unknown) => {
    if (!error) keep(key, result)
    done(error, result)
  }
  return ask.apply(this, call)
} as typeof prototype.query
