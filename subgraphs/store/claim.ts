import { Refusal } from '../../platform/errors.ts'
import { checkSameContent, readIdempotency } from '../../platform/idempotency.ts'
import { newId } from '../../platform/ids.ts'
import { rows } from '../../platform/sql/statement.ts'
import { type Writing, writing } from './books.ts'
import { inTransaction } from './write.ts'

/** What is done once for a key although nothing of it is kept that could be answered again. */
export interface Claiming {
  /** What is made: `completion`. */
  readonly what: string
  /** The input: its `idempotencyKey` has it made once. */
  readonly once: { readonly idempotencyKey?: string | null | undefined }
  /** The organization for which it is made. */
  readonly tenantId: string
}

/**
 * Does something outside of the database at most once for a key. The key is taken before, and given back when it fails; after that, and while it is under
 * way, the same key is refused: its answer was the first one's alone. Without a key it is simply done.
 * @throws BAD_USER_INPUT for a key that is none; CONFLICT, reason `ALREADY_MADE`, or KEY_REUSED for one that was used with another content
 */
export async function claimed<Result>(context: Writing, { what, once, tenantId }: Claiming, make: () => Promise<Result>): Promise<Result> {
  const idempotency = readIdempotency(once)
  if (!idempotency) return make()
  const { key, hash } = idempotency
  const { sequelize, books, actor } = context[writing]
  const made = await inTransaction(context, async ({ transaction, now }) => {
    const [taken] = await rows(sequelize, books.claim, [tenantId, actor, what, key, hash, newId(now), now], transaction)
    if (taken) return null
    const [known] = await rows<{ hash: string }>(sequelize, books.claimed, [books.keysOf === 'organization' ? tenantId : actor, what, key], transaction)
    return known ?? { hash }
  })
  if (made) {
    checkSameContent(made.hash, idempotency, what)
    throw new Refusal('CONFLICT', `This idempotencyKey has made a ${what}, or is about to: its answer is kept nowhere. Choose a new key to make another.`, {
      reason: 'ALREADY_MADE',
      field: 'idempotencyKey',
    })
  }
  try {
    return await make()
  } catch (error) {
    await rows(sequelize, books.release, [tenantId, what, key])
    throw error
  }
}
