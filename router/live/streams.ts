import type { Logger } from 'pino'
import type { Clock } from '../../platform/clock.ts'
import type { Authority, ValidKey, ValidSession } from '../../subgraphs/authority.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Caller } from '../access/authenticate.ts'

/** How often the sessions and keys of open streams are looked at, in milliseconds: what is revoked or expired ends within two. */
const lookMs = 1000

/** Something that stays open for one caller: a socket today, a streaming answer as well. */
export interface OpenStream {
  readonly caller: Caller
  /** Ends it with a close code of graphql-transport-ws and a reason for the client. */
  end(code: number, reason: string): void
}

/** Who listens at this moment, so that nobody listens longer than his credential lasts. */
export interface Streams {
  /** Watches a stream until the returned function is called. */
  watch(stream: OpenStream): () => void
  readonly size: number
  /** Stops looking. The streams themselves belong to their doors. */
  stop(): void
}

/** Where nobody is known, nothing of a caller can run out. */
export const unwatched: Streams = { watch: () => () => {}, size: 0, stop() {} }

/** Close code of graphql-transport-ws after which its clients connect again, with new credentials. */
export const forbiddenCode = 4403

/**
 * Makes the registry of open streams. An anonymous stream has nothing that could end.
 * @param everyMs milliseconds from look to look @default 1000
 */
export function createStreams(authority: Pick<Authority, 'sessions' | 'keysById'>, clock: Clock, log: Pick<Logger, 'warn'>, everyMs = lookMs): Streams {
  const open = new Set<OpenStream>()
  let looking = false

  const idsOf = (kinds: readonly string[]) => [
    ...new Set([...open].filter(({ caller }) => kinds.includes(caller.credential.kind)).map(({ caller }) => caller.credential.id!)),
  ]

  const expire = () => {
    const now = clock.now()
    for (const stream of open) {
      const { expiresAt } = stream.caller.credential
      if (expiresAt && expiresAt <= now) stream.end(forbiddenCode, 'token expired')
    }
  }

  const revoke = async () => {
    const [sessionIds, keyIds] = [idsOf(['token', 'cookie']), idsOf(['key'])]
    const [sessions, keys] = await Promise.all([
      sessionIds.length > 0 ? authority.sessions(sessionIds) : new Map<string, ValidSession>(),
      keyIds.length > 0 ? authority.keysById(keyIds) : new Map<string, ValidKey>(),
    ])
    for (const stream of open) {
      const { viewer, credential } = stream.caller
      if (credential.kind === 'key' && keyIds.includes(credential.id!) && !keys.has(credential.id!)) stream.end(forbiddenCode, 'key revoked')
      if (credential.kind !== 'token' && credential.kind !== 'cookie') continue
      if (!sessionIds.includes(credential.id!)) continue
      const session = sessions.get(credential.id!)
      if (!session) stream.end(forbiddenCode, 'session ended')
      // What a viewer may do was decided when it connected. When that changes, it has to be decided again.
      else if (!sameRights(credential.kind, viewer, session)) stream.end(forbiddenCode, 'rights changed')
    }
  }

  const look = async () => {
    if (open.size === 0) return
    expire()
    if (looking) return
    looking = true
    try {
      await revoke()
    } catch (err) {
      log.warn({ err }, 'the sessions and keys of open streams could not be looked up')
    } finally {
      looking = false
    }
  }

  const timer = setInterval(look, everyMs)
  timer.unref()
  return {
    watch(stream) {
      open.add(stream)
      return () => {
        open.delete(stream)
      }
    },
    get size() {
      return open.size
    },
    stop: () => clearInterval(timer),
  }
}

/** A token keeps its own organization when the session moves to another one; a cookie follows its session. */
function sameRights(kind: 'token' | 'cookie', viewer: Viewer, session: ValidSession): boolean {
  if (kind === 'cookie' && viewer.organizationId !== session.organizationId) return false
  const present = viewer.organizationId === null ? [] : session.memberships[viewer.organizationId]
  return present !== undefined && viewer.roles.length === present.length && viewer.roles.every(role => present.includes(role))
}
