import { randomBytes } from 'node:crypto'
import type { Transaction } from 'sequelize'
import { hashOfSecret } from '../../../../platform/cipher.ts'
import { rows, type Statement, statement } from '../../../../platform/sql/statement.ts'
import type { Unit } from '../../../store/books.ts'
import type { Opening } from '../../../store/store.ts'

/** What a client has asked for, of which person and where. */
export interface Asked {
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string | null
  readonly nonce: string | null
  /** SHA-256 of the verifier, base64url (RFC 7636, S256). */
  readonly challenge: string
  /** The organization that was active; null in personal context. */
  readonly organizationId: string | null
  /** When the person signed in, ISO 8601. */
  readonly signedInAt: string
  /** The session that asked, or agreed: what it was given is worth nothing once it has ended. */
  readonly askedBy: string
}

/** `consent`: a request that waits for the person; `code`: what the client exchanges for tokens. */
export type GrantPurpose = 'consent' | 'code'

/** For how long each is good, in ms. */
export const grantLives: Readonly<Record<GrantPurpose, number>> = { consent: 600_000, code: 60_000 }

/** How many of each a person has open at most: a page that sends their browser here again and again ends the older ones. */
const mostOpen = 20

export interface GrantCode {
  readonly hash: string
  readonly userId: string
  readonly clientId: string
  readonly asked: Asked
  readonly expiresAt: Date
  readonly usedAt: Date | null
  /** The session that it gave. */
  readonly sessionId: string | null
}

/** The refresh tokens of a session, of which one is good. */
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

/** 256 random bits as 43 characters that an address may hold. */
const random = (): string => randomBytes(32).toString('base64url')

/** A refresh token: what its family has in common, and what makes it the one. */
const refreshForm = /^sgr_([\w-]{43})([\w-]{43})$/

/** The hash of what a refresh token has in common with its family; null for what is none of ours. */
export const familyOf = (token: string): string | null => {
  const common = refreshForm.exec(token)?.[1]
  return common === undefined ? null : hashOfSecret(common)
}

/** What OAuth clients get on the way to a session, and with it. Everything secret is known by its hash alone. */
export const oauthGrantStore = {
  open({ sequelize }: Opening) {
    const read = <Row>(wanted: Statement, values: readonly unknown[], transaction?: Transaction) => rows<Row>(sequelize, wanted, values, transaction)
    return {
      /** Makes a request for consent, or a code. @returns its clear text, which is kept nowhere */
      async issue(purpose: GrantPurpose, of: { readonly userId: string; readonly clientId: string; readonly asked: Asked }, { now, transaction }: Unit) {
        const clear = random()
        const expiresAt = new Date(now.getTime() + grantLives[purpose])
        await read(insert, [hashOfSecret(clear), purpose, of.userId, of.clientId, JSON.stringify(of.asked), now, expiresAt], transaction)
        await read(endOldest, [of.userId, purpose, mostOpen], transaction)
        return clear
      },

      /** One as it stands, used and expired ones included. @param transaction within which nobody else uses it */
      async find(purpose: GrantPurpose, clear: string, transaction?: Transaction): Promise<GrantCode | null> {
        const [found] = await read<GrantCode>(transaction ? lockCode : lookCode, [hashOfSecret(clear), purpose], transaction)
        return found ?? null
      },

      /** Uses a code up. */
      use: async ({ hash }: GrantCode, { now, transaction }: Unit): Promise<void> => void (await read(markUsed, [hash, now], transaction)),

      /** Notes which session a code has given: it ends when the code comes again. */
      note: async ({ hash }: GrantCode, sessionId: string, transaction: Transaction): Promise<void> =>
        void (await read(noteSession, [hash, sessionId], transaction)),

      remove: async ({ hash }: GrantCode, transaction: Transaction): Promise<void> => void (await read(removeCode, [hash], transaction)),

      /** Begins the family of a session. @returns its first refresh token */
      async begin(sessionId: string, signedInAt: Date, { now, transaction }: Unit): Promise<string> {
        const common = random()
        const token = `sgr_${common}${random()}`
        await read(insertFamily, [sessionId, hashOfSecret(common), hashOfSecret(token), signedInAt, now], transaction)
        return token
      },

      /**
       * The family of a refresh token, whether or not that is the good one.
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

      /** Puts another refresh token in the place of the one that was good. @param token any of the family */
      async rotate({ sessionId }: Family, token: string, expiresAt: Date, { now, transaction }: Unit): Promise<string> {
        const next = `sgr_${refreshForm.exec(token)![1]}${random()}`
        await read(rotate, [sessionId, hashOfSecret(next)], transaction)
        await read(extend, [sessionId, expiresAt, now], transaction)
        return next
      },

      /**
       * The roles of a person who may be acted for: none in personal context.
       * @returns null for who is suspended or gone, or belongs to that organization no more; none of it changes within the transaction
       */
      async rolesOf(userId: string, organizationId: string | null, transaction: Transaction): Promise<readonly string[] | null> {
        if ((await read(standingPerson, [userId], transaction)).length === 0) return null
        if (organizationId === null) return []
        const [member] = await read<{ roles: string[] }>(standingMember, [userId, organizationId], transaction)
        return member?.roles ?? null
      },

      /** Whether the session stands that asked for a code. Ask when the person is held (`rolesOf`): who sets a new password holds them too. */
      async isStillAsked({ userId, asked: { askedBy } }: Pick<GrantCode, 'userId' | 'asked'>, { now, transaction }: Unit): Promise<boolean> {
        return (await read(standingSession, [askedBy, userId, now], transaction)).length > 0
      },

      /** When a session began; null for one that has ended. */
      async begun(sessionId: string): Promise<Date | null> {
        const [session] = await read<{ at: Date }>(begun, [sessionId])
        return session?.at ?? null
      },
    }
  },
}
