import { randomBytes } from 'node:crypto'
import type { Transaction } from 'sequelize'
import { hashOfSecret } from '../../../../platform/cipher.ts'
import { rows, type Statement, statement } from '../../../../platform/sql/statement.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { StoreContext } from '../../../store/store.ts'

/** A client's authorization request, with the person and context. */
export interface Asked {
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string | null
  readonly nonce: string | null
  /** SHA-256 of the verifier, base64url (RFC 7636, S256). */
  readonly challenge: string
  /** The organization that was active; null in personal context. */
  readonly organizationId: string | null
  /** Time of the person's sign-in, ISO 8601. */
  readonly signedInAt: string
  /** Session that requested, or consented: its grants become void when it ends. */
  readonly askedBy: string
}

/** `consent`: a request that waits for the person; `code`: to be exchanged for tokens by the client. */
export type GrantPurpose = 'consent' | 'code'

/** Lifetimes in ms. */
export const grantLives: Readonly<Record<GrantPurpose, number>> = { consent: 600_000, code: 60_000 }

/** Maximum open ones of a person for each purpose: further ones end the oldest. */
const mostOpen = 20

export interface GrantCode {
  readonly hash: string
  readonly userId: string
  readonly clientId: string
  readonly asked: Asked
  readonly expiresAt: Date
  readonly usedAt: Date | null
  /** Session created from the code. */
  readonly sessionId: string | null
}

/** The refresh tokens of a session, of which one is valid. */
export interface Family {
  readonly sessionId: string
  readonly userId: string
  readonly clientId: string
  readonly organizationId: string | null
  readonly scopes: readonly string[]
  readonly trusted: boolean
  readonly expiresAt: Date
  readonly refreshHash: string
  readonly signedInAt: Date
  readonly createdAt: Date
}

const insert = statement(
  `insert into identity.oauth_codes (hash, purpose, user_id, client_id, asked, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)`,
)
const endOldest = statement(
  `delete from identity.oauth_codes where hash in (
     select hash from identity.oauth_codes where user_id = $1 and purpose = $2 and used_at is null order by created_at desc, hash offset $3)`,
)
const codeColumns = `hash, user_id as "userId", client_id as "clientId", asked, expires_at as "expiresAt", used_at as "usedAt", session_id as "sessionId"`
const findCode = `select ${codeColumns} from identity.oauth_codes where hash = $1 and purpose = $2`
const lookCode = statement(findCode)
const lockCode = statement(`${findCode} for update`)
const markUsed = statement('update identity.oauth_codes set used_at = $2 where hash = $1')
const noteSession = statement('update identity.oauth_codes set session_id = $2 where hash = $1')
const removeCode = statement('delete from identity.oauth_codes where hash = $1')

const insertFamily = statement('insert into identity.oauth_families (session_id, family_hash, refresh_hash, auth_time, created_at) values ($1, $2, $3, $4, $5)')
const lockSession = statement('select id from identity.sessions where id = (select session_id from identity.oauth_families where family_hash = $1) for update')
const readFamily = statement(
  `select s.id as "sessionId", s.user_id as "userId", s.client_id as "clientId", s.active_organization_id as "organizationId", s.scopes, s.trusted,
          s.expires_at as "expiresAt", f.refresh_hash as "refreshHash", f.auth_time as "signedInAt", f.created_at as "createdAt"
     from identity.oauth_families f join identity.sessions s on s.id = f.session_id where f.family_hash = $1`,
)
const rotate = statement('update identity.oauth_families set refresh_hash = $2 where session_id = $1')
const extend = statement('update identity.sessions set expires_at = $2, updated_at = $3 where id = $1')

const standingPerson = statement('select id from identity.users where id = $1 and suspended_at is null for share')
const standingMember = statement('select roles from identity.memberships where user_id = $1 and organization_id = $2 for share')
const begun = statement('select created_at as at from identity.sessions where id = $1')
const standingSession = statement('select from identity.sessions where id = $1 and user_id = $2 and expires_at > $3')

/** Creates 256 random bits as 43 characters that are valid in an address. */
const random = (): string => randomBytes(32).toString('base64url')

/** Matches a refresh token: the part common to its family, and its own part. */
const refreshForm = /^sgr_([\w-]{43})([\w-]{43})$/

/** Returns the hash of a refresh token's family part; null for another form. */
export const familyOf = (token: string): string | null => {
  const common = refreshForm.exec(token)?.[1]
  return common === undefined ? null : hashOfSecret(common)
}

/** Consent requests, codes and refresh tokens of OAuth clients, stored by their hash only. */
export const oauthGrantStore = {
  open({ sequelize }: StoreContext) {
    const read = <Row>(wanted: Statement, values: readonly unknown[], transaction?: Transaction) => rows<Row>(sequelize, wanted, values, transaction)
    return {
      /** Creates a consent request, or a code. @returns its clear text, which is not stored */
      async issue(
        purpose: GrantPurpose,
        of: { readonly userId: string; readonly clientId: string; readonly asked: Asked },
        { now, transaction }: WriteTransaction,
      ) {
        const clear = random()
        const expiresAt = new Date(now.getTime() + grantLives[purpose])
        await read(insert, [hashOfSecret(clear), purpose, of.userId, of.clientId, JSON.stringify(of.asked), now, expiresAt], transaction)
        await read(endOldest, [of.userId, purpose, mostOpen], transaction)
        return clear
      },

      /**
       * Returns a code or request, used and expired ones included. @param transaction within which nobody else uses it
       */
      async find(purpose: GrantPurpose, clear: string, transaction?: Transaction): Promise<GrantCode | null> {
        const [found] = await read<GrantCode>(transaction ? lockCode : lookCode, [hashOfSecret(clear), purpose], transaction)
        return found ?? null
      },

      /** Uses up a code. */
      use: async ({ hash }: GrantCode, { now, transaction }: WriteTransaction): Promise<void> => void (await read(markUsed, [hash, now], transaction)),

      /** Stores the session that a code created, which ends if the code is used again. */
      note: async ({ hash }: GrantCode, sessionId: string, transaction: Transaction): Promise<void> =>
        void (await read(noteSession, [hash, sessionId], transaction)),

      remove: async ({ hash }: GrantCode, transaction: Transaction): Promise<void> => void (await read(removeCode, [hash], transaction)),

      /** Begins a session's family. @returns its first refresh token */
      async begin(sessionId: string, signedInAt: Date, { now, transaction }: WriteTransaction): Promise<string> {
        const common = random()
        const token = `sgr_${common}${random()}`
        await read(insertFamily, [sessionId, hashOfSecret(common), hashOfSecret(token), signedInAt, now], transaction)
        return token
      },

      /**
       * Returns the family of a refresh token, valid or not.
       * @param transaction within which nobody else uses or ends it
       */
      async family(token: string, transaction?: Transaction): Promise<Family | null> {
        const hash = familyOf(token)
        if (hash === null) return null
        // Two statements, so that the second reads the state after the first has waited for its lock.
        if (transaction && (await read(lockSession, [hash], transaction)).length === 0) return null
        const [found] = await read<Family>(readFamily, [hash], transaction)
        return found ?? null
      },

      /** Replaces the valid refresh token of a family. @param token any of the family */
      async rotate({ sessionId }: Family, token: string, expiresAt: Date, { now, transaction }: WriteTransaction): Promise<string> {
        const next = `sgr_${refreshForm.exec(token)![1]}${random()}`
        await read(rotate, [sessionId, hashOfSecret(next)], transaction)
        await read(extend, [sessionId, expiresAt, now], transaction)
        return next
      },

      /**
       * Returns the roles of an active person; empty in personal context.
       * @returns null for a suspended or deleted person, or one without that membership; nothing changes within the
       * transaction
       */
      async rolesOf(userId: string, organizationId: string | null, transaction: Transaction): Promise<readonly string[] | null> {
        if ((await read(standingPerson, [userId], transaction)).length === 0) return null
        if (organizationId === null) return []
        const [member] = await read<{ roles: string[] }>(standingMember, [userId, organizationId], transaction)
        return member?.roles ?? null
      },

      /**
       * Whether the session that requested a code is valid. Lock the person first (`rolesOf`), as a password change
       * does.
       */
      async isStillAsked({ userId, asked: { askedBy } }: Pick<GrantCode, 'userId' | 'asked'>, { now, transaction }: WriteTransaction): Promise<boolean> {
        return (await read(standingSession, [askedBy, userId, now], transaction)).length > 0
      },

      /** Returns when a session began; null for one that has ended. */
      async begun(sessionId: string): Promise<Date | null> {
        const [session] = await read<{ at: Date }>(begun, [sessionId])
        return session?.at ?? null
      },
    }
  },
}
