import { randomBytes } from 'node:crypto'
import type { Transaction } from 'sequelize'
import { hashOfSecret } from '../../../platform/cipher.ts'
import { DomainError } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import { rows, statement } from '../../../platform/sql/statement.ts'
import type { StoreContext } from '../../store/store.ts'

/** Lifetime of codes of each purpose, in ms. A code is valid for its own purpose only. */
export const codeLives = {
  'verify-email': 24 * 3_600_000,
  'confirm-email': 24 * 3_600_000,
  'verify-recovery-email': 24 * 3_600_000,
  'reset-password': 30 * 60_000,
  invitation: 7 * 24 * 3_600_000,
  handoff: 60_000,
} as const

export type CodePurpose = keyof typeof codeLives

export const codePurposes = Object.keys(codeLives) as readonly CodePurpose[]

/** A valid code. */
export interface Code {
  readonly id: string
  readonly purpose: CodePurpose
  /** Id of the person or invitation. */
  readonly subject: string
  /** Details from the code's creation, never a secret. */
  readonly details: Readonly<Record<string, unknown>>
  readonly expiresAt: Date
}

const insert = statement('insert into identity.codes (id, purpose, subject, hash, details, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)')
const removeOf = statement('delete from identity.codes where subject = $1 and purpose = any($2::text[])')
const find =
  'select id, purpose, subject, details, expires_at as "expiresAt" from identity.codes where hash = $1 and purpose = any($2::text[]) and expires_at > $3'
const look = statement(find)
const lock = statement(`${find} for update`)
const remove = statement('delete from identity.codes where id = $1')

/** Creates 256 random bits as 43 characters that are valid in an address. */
const newCode = (): string => randomBytes(32).toString('base64url')

/**
 * Error for every code that is unknown, used, invalidated, expired or meant for another target; it does not reveal
 * which.
 */
export const codeRefusal = (): DomainError =>
  new DomainError('BAD_USER_INPUT', 'This code is not good any more, or never was: each works once and for a limited time. Ask for a new one.', {
    field: 'code',
    reason: 'CODE',
  })

/** One-time codes, stored by their hash only. */
export const codeStore = {
  open: ({ sequelize }: StoreContext) => ({
    /**
     * Creates a code that replaces any other of the same purpose and subject.
     * @returns its clear text, which is not stored
     */
    async issue(
      purpose: CodePurpose,
      subject: string,
      { now, transaction, details = {}, others = 'end' }: CodeUnit & { readonly details?: Code['details']; readonly others?: 'end' | 'stay' },
    ): Promise<string> {
      const clear = newCode()
      if (others === 'end') await rows(sequelize, removeOf, [subject, [purpose]], transaction)
      const expiresAt = new Date(now.getTime() + codeLives[purpose])
      await rows(sequelize, insert, [newId(now), purpose, subject, hashOfSecret(clear), JSON.stringify(details), now, expiresAt], transaction)
      return clear
    },

    /**
     * Finds a valid code and locks it until the transaction ends: concurrent requests with it wait. It stays valid
     * until `use`.
     * @throws BAD_USER_INPUT, reason CODE
     */
    async hold(purposes: CodePurpose | readonly CodePurpose[], clear: unknown, { now, transaction }: CodeUnit): Promise<Code> {
      const [found] = typeof clear === 'string' ? await rows<Code>(sequelize, lock, [hashOfSecret(clear), [purposes].flat(), now], transaction) : []
      if (!found) throw codeRefusal()
      return found
    },

    /**
     * Finds a valid code without locking, for pages, or when another record must be locked before the code.
     * @throws BAD_USER_INPUT, reason CODE
     */
    async find(purposes: CodePurpose | readonly CodePurpose[], clear: unknown, now: Date): Promise<Code> {
      const [found] = typeof clear === 'string' ? await rows<Code>(sequelize, look, [hashOfSecret(clear), [purposes].flat(), now]) : []
      if (!found) throw codeRefusal()
      return found
    },

    /** Uses up a locked code. */
    use: async ({ id }: Code, transaction: Transaction): Promise<void> => void (await rows(sequelize, remove, [id], transaction)),

    /** Invalidates a subject's codes of these purposes. */
    end: async (subject: string, purposes: readonly CodePurpose[], transaction: Transaction): Promise<void> =>
      void (await rows(sequelize, removeOf, [subject, purposes], transaction)),
  }),
}

interface CodeUnit {
  readonly now: Date
  readonly transaction: Transaction
}
