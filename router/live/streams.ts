import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { Clock } from '../../platform/clock.ts'
import { type Authority, narrowedBy, rightsOf, type ValidKey, type ValidSession } from '../../subgraphs/authority.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Caller, Credential } from '../access/authenticate.ts'

/**
 * Interval in ms at which the sessions and keys of open streams are checked: a stream whose credential is revoked or
 * expired ends within two intervals.
 */
const lookMs = 1000

/** A connection that stays open for one caller: a socket or a streamed answer. */
export interface OpenStream {
  readonly caller: Caller
  /** Ends the stream with a close code of graphql-transport-ws and a reason for the client. */
  end(code: number, reason: string): void
}

/** Registry of open streams. It ends each stream whose credential is no longer valid. */
export interface Streams {
  /** Watches a stream until the returned function is called. */
  watch(stream: OpenStream): () => void
  readonly size: number
  /** Stops the checks. The streams stay open: their transports end them. */
  stop(): void
}

/** Registry for a router without authentication: no credential can expire. */
export const unwatched: Streams = { watch: () => () => {}, size: 0, stop() {} }

/** Close code of graphql-transport-ws after which its clients connect again, with new credentials. */
export const forbiddenCode = 4403

/** Close code (IANA registry) after which clients reconnect after a pause with the same credentials. */
export const tryAgainCode = 1013

/** Settings of the registry of open streams. */
export interface StreamsOptions {
  /** Interval between checks, in ms. @default 1000 */
  readonly everyMs?: number
  /**
   * Time in ms for which a stream continues while identity does not answer whether its credential is valid. @default
   * 60000
   */
  readonly unansweredMs?: number | undefined
  /** Monotonic clock in ms. @default performance.now */
  readonly elapsed?: (() => number) | undefined
}

/**
 * Creates the registry of open streams. An anonymous stream never ends by a check. While identity does not answer, the
 * other streams end after `unansweredMs`, because their sessions may have been revoked.
 */
export function createStreams(
  authority: Pick<Authority, 'sessions' | 'keys' | 'jwks'>,
  clock: Clock,
  log: Pick<Logger, 'warn'>,
  { everyMs = lookMs, unansweredMs = 60_000, elapsed = () => performance.now() }: StreamsOptions = {},
): Streams {
  const open = new Set<OpenStream>()
  /** Time at which each stream's credential was last confirmed. */
  const vouchedAt = new Map<OpenStream, number>()
  let looking = false

  const idsOf = (kinds: readonly string[]): ReadonlySet<string> => {
    const ids = new Set<string>()
    for (const { caller } of open) if (kinds.includes(caller.credential.kind)) ids.add(caller.credential.id!)
    return ids
  }

  const expire = () => {
    const now = clock.now()
    for (const stream of open) {
      const { expiresAt } = stream.caller.credential
      if (expiresAt && expiresAt <= now) stream.end(forbiddenCode, 'token expired')
    }
  }

  const endUnanswered = () => {
    const now = elapsed()
    for (const stream of open) {
      if (stream.caller.credential.kind === 'none' || now - vouchedAt.get(stream)! < unansweredMs) continue
      stream.end(tryAgainCode, 'identity does not answer')
    }
  }
  const vouch = (stream: OpenStream, at: number) => open.has(stream) && vouchedAt.set(stream, at)

  const revoke = async () => {
    const askedAt = elapsed()
    const [sessionIds, hashes] = [idsOf(['token', 'cookie']), idsOf(['key'])]
    const kids = new Set([...open].flatMap(({ caller }) => caller.credential.kid ?? []))
    const [sessions, keys, published] = await Promise.all([
      sessionIds.size > 0 ? authority.sessions([...sessionIds]) : new Map<string, ValidSession>(),
      hashes.size > 0 ? authority.keys([...hashes]) : new Map<string, ValidKey>(),
      kids.size > 0 ? authority.jwks() : null,
    ])
    for (const { kid } of published?.keys ?? []) if (kid !== undefined) kids.delete(kid)
    for (const stream of open) {
      const { viewer, credential } = stream.caller
      if (!credential.stands && (hashes.has(credential.id!) || sessionIds.has(credential.id!))) vouch(stream, askedAt)
      if (credential.kind === 'key' && hashes.has(credential.id!)) {
        const key = keys.get(credential.id!)
        if (!key) stream.end(forbiddenCode, 'key revoked')
        // A key that acts as a service account has the rights of that account's roles.
        else if (!isDeepStrictEqual(key.scopes, viewer.scopes)) stream.end(forbiddenCode, 'rights changed')
      }
      if (credential.kind !== 'token' && credential.kind !== 'cookie') continue
      if (!sessionIds.has(credential.id!)) continue
      const session = sessions.get(credential.id!)
      if (!session) stream.end(forbiddenCode, 'session ended')
      else if (credential.kid !== undefined && kids.has(credential.kid)) stream.end(forbiddenCode, 'signing key distrusted')
      // A viewer's rights were determined when it connected. They are determined again when they change.
      else if (!sameRights(credential, viewer, session)) stream.end(forbiddenCode, 'rights changed')
    }
  }

  /**
   * A service's rights depend on its token and on the person for whom it calls; those of other callers without a
   * session depend on their memberships.
   */
  const revokeOthers = async () => {
    const others = [...open].filter(({ caller }) => caller.credential.stands)
    const askedAt = elapsed()
    const look = async (stream: OpenStream) => {
      if (!(await stream.caller.credential.stands?.())) return stream.end(forbiddenCode, 'rights changed')
      vouch(stream, askedAt)
    }
    await Promise.all(others.map(look))
  }

  const look = async () => {
    if (open.size === 0) return
    expire()
    // After the process was suspended it asks identity first: elapsed time alone says nothing.
    if (looking) return endUnanswered()
    looking = true
    try {
      await Promise.all([revoke(), revokeOthers()])
    } catch (err) {
      log.warn({ err }, 'sessions and keys of open streams could not be checked')
      endUnanswered()
    } finally {
      looking = false
    }
  }

  const timer = setInterval(look, everyMs)
  timer.unref()
  return {
    watch(stream) {
      open.add(stream)
      vouchedAt.set(stream, elapsed())
      return () => {
        open.delete(stream)
        vouchedAt.delete(stream)
      }
    },
    get size() {
      return open.size
    },
    stop: () => clearInterval(timer),
  }
}

/**
 * Whether a session still gives the viewer the same rights. A token keeps its organization when the session switches to
 * another one; a cookie follows its session. An app's rights also depend on its grant.
 */
function sameRights({ kind, scopes: own }: Pick<Credential, 'kind' | 'scopes'>, viewer: Viewer, session: ValidSession): boolean {
  const { organizationId } = viewer
  if (kind === 'cookie' && organizationId !== session.organizationId) return false
  const present = organizationId === null ? [] : session.memberships[organizationId]
  if (present === undefined) return false
  const { roles, scopes, clientId } = rightsOf({ organizationId, roles: present }, narrowedBy(session.grant, own))
  if (clientId !== viewer.clientId || !sameWords(roles, viewer.roles)) return false
  return clientId === null || sameWords(scopes, viewer.scopes)
}

const sameWords = (some: readonly string[], others: readonly string[]): boolean => some.length === others.length && some.every(word => others.includes(word))
