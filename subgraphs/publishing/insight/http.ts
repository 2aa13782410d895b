import type { Viewer } from '../../viewer.ts'
import { callback, confirmed } from '../connection/integration/callback.ts'
import { answerRevocation, deletionPath } from '../connection/revocation/answer.ts'
import type { Context, Job } from '../context.ts'
import { answerDirect, directPath } from '../media/upload/direct.ts'
import { answerUpload, isUpload, uploadPath } from '../media/upload/tus.ts'
import { isMedium, serveMedium } from '../media/variant/serve.ts'
import { everyNetwork, platforms } from '../network/networks.ts'
import { serveFeed } from '../planning/calendar/feed.ts'
import { answerImport, importPath } from '../post/import/handler.ts'
import { answerCsv, csvPath } from './analytics/csv.ts'

const callbackPath = /^\/publishing\/api\/integrations\/([a-z-]+)\/callback$/
const feedPath = /^\/publishing\/calendar\/([\w-]{1,100})\.ics$/

/**
 * Whether a GET only reads, so that HEAD is allowed, as calendar programs need. Callbacks do more than read: they use
 * up a code.
 */
const isRead = (path: string): boolean => path === csvPath || feedPath.test(path) || deletionPath.test(path)

/** Paths below which request bodies are streamed. */
export const streamedPaths: readonly string[] = [uploadPath]

/**
 * Handles the routes that the router forwards to publishing: the networks' OAuth callbacks, their confirmation page,
 * and calendars. @param open creates a context of the viewer @param viewer of the forwarded request, for calls to other
 * services
 */
export async function handle(job: Job, request: Request, viewer: Viewer, open: () => Context): Promise<Response> {
  const url = new URL(request.url)
  if (request.method === 'HEAD' && isRead(url.pathname)) {
    const { body, status, headers } = await handle(job, new Request(request, { method: 'GET' }), viewer, open)
    await body?.cancel()
    return new Response(null, { status, headers })
  }
  if (isUpload(url.pathname)) return answerUpload(open(), request)
  if (isMedium(url.pathname)) return serveMedium(job, request)
  if (request.method === 'POST' && url.pathname === importPath) return answerImport(open(), request, viewer)
  if (request.method === 'POST' && url.pathname === directPath) return answerDirect(open(), request)
  const path = callbackPath.exec(url.pathname)?.[1]
  const platform = platforms.find(name => everyNetwork[name].path === path)
  if (request.method === 'GET' && platform) return callback(job, platform, request, viewer)
  if (request.method === 'POST' && platform) return confirmed(job, platform, request, viewer)
  const revocation = answerRevocation(job, request, url.pathname)
  if (revocation) return revocation
  if (request.method === 'GET' && url.pathname === csvPath) return answerCsv(open(), request)
  const feed = feedPath.exec(url.pathname)?.[1]
  if (request.method === 'GET' && feed) return serveFeed(job, feed, request)
  const problem = {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: `Publishing answers nothing at ${request.method} ${url.pathname}.`,
    code: 'NOT_FOUND',
    requestId: request.headers.get('x-request-id'),
  }
  return Response.json(problem, { status: 404, headers: { 'content-type': 'application/problem+json' } })
}
