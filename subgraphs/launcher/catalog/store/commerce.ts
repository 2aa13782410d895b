import { Readable } from 'node:stream'
import { DomainError } from '../../../../platform/errors.ts'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import type { Viewer } from '../../../viewer.ts'
import type { ViewerTokens } from '../../engines/widgets/apps/token.ts'
import { isManager } from '../../stores/inbox/action-item.ts'

interface CommerceDeps {
  readonly outbound: Pick<WayOut, 'stream'>
  readonly developersUrl: string | null
  readonly viewerTokens: Pick<ViewerTokens, 'write'>
}

/** Below it lie the rows of the developer platform's shop, here and there. */
const shop = '/api/commerce'

/** Headers of a request that are passed on; nothing that says who asks, or by which way. */
const askedHeaders = ['accept', 'accept-language', 'content-type', 'if-match', 'if-none-match', 'idempotency-key', 'range'] as const
/** Headers of an answer that are passed on: no cookies, and no address elsewhere. */
const answeredHeaders = ['content-type', 'content-language', 'content-disposition', 'content-range', 'accept-ranges', 'etag', 'retry-after'] as const

const picked = (headers: Headers, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap(name => (headers.has(name) ? [[name, headers.get(name)!]] : [])))

/**
 * Passes a request on to the shop of the developer platform, with a token that names the viewer.
 * @throws CONFLICT, reason NOT_CONFIGURED, without a developer platform; UPSTREAM_FAILED when it does not answer
 */
export async function askShop(request: Request, viewer: Viewer, { outbound, developersUrl, viewerTokens }: CommerceDeps): Promise<Response> {
  if (developersUrl === null)
    throw new DomainError('CONFLICT', 'There is no developer platform here, so nothing can be bought: ask whoever operates this platform.', {
      reason: 'NOT_CONFIGURED',
    })
  const { pathname, search } = new URL(request.url)
  const { organizationId, userId } = viewer
  const role = organizationId === null ? null : isManager(viewer) ? 'manager' : 'member'
  const token = await viewerTokens.write({ entryId: 'developers', organizationId, userId, role })
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  try {
    const answer = await outbound.stream(`${developersUrl}${pathname.slice(pathname.indexOf(shop))}${search}`, {
      method: request.method,
      headers: { ...picked(request.headers, askedHeaders), authorization: `Bearer ${token}` },
      body: isRead ? null : new Uint8Array(await request.arrayBuffer()),
      firstByteMs: 10_000,
      idleMs: 10_000,
      totalMs: 30_000,
      mostBytes: 5 * 1024 * 1024,
      freshConnection: !isRead,
      signal: request.signal,
    })
    const hasBody = answer.status !== 204 && answer.status !== 304
    if (!hasBody) answer.cancel()
    const body = hasBody ? (Readable.toWeb(Readable.from(answer.body, { objectMode: false })) as never) : null
    return new Response(body, { status: answer.status, headers: { ...picked(answer.headers, answeredHeaders), 'cache-control': 'no-store' } })
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error
    const what = isRead || !error.sent ? 'try again in a moment' : 'look whether it was done before you try again'
    throw new DomainError('UPSTREAM_FAILED', `The developer platform does not answer: ${what}.`)
  }
}
