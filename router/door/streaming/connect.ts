import type { IncomingMessage } from 'node:http'
import { CloseCode } from 'graphql-ws'
import { program, readClient, readProgram } from '../../../platform/caller/cause.ts'
import { DomainError } from '../../../platform/errors.ts'
import { createCounter } from '../../../platform/limit.ts'
import type { AddressOf } from '../../access/address.ts'
import { type Authenticate, credentialHeaders, isCaller, serviceHeaders } from '../../access/authenticate.ts'
import { claimOf } from '../../access/callers/claim.ts'
import { credentialsIn } from '../../access/parameters.ts'
import type { IncrementalForm } from '../../engine/engine.ts'
import type { Hosts } from '../../hosts.ts'
import { forbiddenCode, type Streams, tryAgainCode } from '../../live/streams.ts'
import { webHeaders } from '../headers.ts'
import { expired, unanswered } from './answer.ts'
import type { Socket } from './operation.ts'
import { type Extra, socketLimits, tooMany, tooManyCode } from './socket.ts'

/** What connecting needs of the door. */
interface ConnectionDoor {
  readonly hosts: Hosts
  readonly authenticate: Authenticate
  readonly addressOf: AddressOf
  readonly streams: Streams
  readonly perViewer?: number | undefined
}

/** Authenticates sockets, and counts those of each viewer. */
export function createConnections(door: ConnectionDoor) {
  const { authenticate, streams, perViewer = socketLimits.perViewer } = door
  const unwatch = new WeakMap<Extra, () => void>()
  const viewers = createCounter()

  /** Authenticates a socket by its `connection_init`. @returns whether it stays open */
  async function connect({ connectionParams, extra }: Socket): Promise<boolean> {
    const { origin } = extra.request.headers
    // Browsers do not apply CORS to WebSockets, so the server refuses foreign origins here.
    if (origin !== undefined && !door.hosts.trusts(origin)) {
      extra.end(CloseCode.Unauthorized, 'Pages of this origin may not connect: CORS_ORIGINS of the platform names those that may.')
      return false
    }
    const credentials = credentialsIn(connectionParams)
    if (credentials instanceof DomainError) {
      extra.end(CloseCode.Unauthorized, credentials.message)
      return false
    }
    const form = connectionParams?.incrementalSpec ?? 'v0.2'
    if (!isForm(form)) {
      extra.end(CloseCode.BadRequest, 'incrementalSpec is v0.2, 20220824 or none: send one of them, or leave it out.')
      return false
    }
    extra.incremental = form === 'none' ? null : form
    extra.headers = withCredentials(extra.request, credentials)
    const said = (name: string) => (connectionParams && Object.hasOwn(connectionParams, name) ? connectionParams[name] : undefined)
    const named = readProgram(said)
    // A socket that names no client there may have named it by headers of its upgrade.
    if (named.name !== 'unknown') extra.sender = { ...extra.sender, client: readClient(said)!, [program]: named }
    let result: Awaited<ReturnType<Authenticate>>
    try {
      result = await authenticate(extra.headers, { safe: false })
    } catch (error) {
      extra.end(tryAgainCode, (error as Error).message)
      return false
    }
    if (!isCaller(result)) {
      if (result.expired) extra.end(forbiddenCode, 'token expired')
      else extra.end(CloseCode.Unauthorized, result.refusal.message)
      return false
    }
    extra.caller = result
    extra.claim = claimOf(result.viewer, door.addressOf(extra.request))
    // The socket closed while the router waited for identity, so nothing else would remove it from the list.
    if (extra.closed) return false
    const viewer = result.viewer.keyId ?? result.viewer.userId
    if (viewer !== null) {
      extra.viewer = viewer
      if (viewers.enter(viewer) > perViewer) {
        extra.end(tooManyCode, tooMany)
        return false
      }
    }
    if (result.credential.kind !== 'none') unwatch.set(extra, streams.watch({ caller: result, end: (code, reason) => endFor(extra, code, reason) }))
    return true
  }

  /** Forgets a socket that is closed. */
  function close(extra: Extra): void {
    extra.closed = true
    unwatch.get(extra)?.()
    if (extra.viewer !== null) viewers.leave(extra.viewer)
  }

  return { connect, close }
}

/** Closes the socket of a credential that ended, after the parts that are open of events. */
function endFor({ open, end }: Extra, code: number, reason: string): void {
  const why = code === tryAgainCode ? unanswered : expired(reason)
  for (const membership of open) membership.cut(why)
  end(code, reason)
}

const isForm = (value: unknown): value is IncrementalForm | 'none' => value === 'v0.2' || value === '20220824' || value === 'none'

/** Returns the upgrade's headers with the credentials of `connection_init` in place of its own. */
function withCredentials(request: IncomingMessage, credentials: ReadonlyMap<string, string>): Headers {
  const headers = webHeaders(request.headers)
  for (const name of [...credentialHeaders, ...serviceHeaders]) headers.delete(name)
  for (const [name, value] of credentials) headers.set(name, value)
  return headers
}
