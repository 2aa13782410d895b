import { type Statement, statement } from './statement.ts'

/**
 * Name of an advisory lock, `<schema>.<what>`: the first part separates locks of different subgraphs in one database.
 */
export type LockName = `${string}.${string}`

const names = new Set<LockName>()

/** Returns the SQL expression of an advisory lock's key. @throws Error when another lock of the process has the name */
function lockKey(name: LockName, key: string): string {
  if (names.has(name)) throw new Error(`two advisory locks are called ${name}: import the first, or name the second otherwise`)
  names.add(name)
  return `hashtextextended('${name} ' || ${key}, 0)`
}

/**
 * Returns a statement that takes an advisory lock until the transaction ends, for one value of its parameter. It waits
 * while another session holds the lock. Create one per name, when the file is loaded.
 * @param parameters number of values that identify the locked object; with 0 the name has a single lock
 * @throws Error when another lock of the process has the name
 */
export function transactionLock(name: LockName, parameters: 0 | 1 | 2 = 1): Statement {
  const values = Array.from({ length: parameters }, (_, index) => `$${index + 1}::text`)
  return statement(`select pg_advisory_xact_lock(${lockKey(name, values.join(` || ' ' || `) || `''`)})`)
}

/** Returns a statement that takes an advisory lock only if it is free: its row says whether the lock is `held` now. */
export const transactionLockIfFree = (name: LockName): Statement => statement(`select pg_try_advisory_xact_lock(${lockKey(name, '$1::text')}) as held`)

/**
 * Returns two statements of one lock: `share` takes it in shared mode for each of a list of values, `close` exclusively
 * for one value.
 */
export function sharedTransactionLock(name: LockName): { readonly share: Statement; readonly close: Statement } {
  const key = lockKey(name, 'v')
  return {
    share: statement(`select pg_advisory_xact_lock_shared(${key}) from unnest($1::text[]) v`),
    close: statement(`select pg_advisory_xact_lock(${key}) from (values ($1::text)) t (v)`),
  }
}
