import type { Viewer } from '../viewer.ts'
import { callback, confirmed } from './connection/integration/callback.ts'
import type { Job } from './context.ts'
import { everyNetwork, platforms } from './network/networks.ts'

const callbackPath = /^\/publishing\/api\/integrations\/([a-z-]+)\/callback$/

/** Serves the rows that the router forwards to publishing: the networks' OAuth callbacks, and the page on which a person confirms one. @param viewer as whom the router sent it: asked for where another service has to be */
export async function handle(job: Job, request: Request, viewer: Viewer): Promise<Response> {
  const url = new URL(request.url)
  const path = callbackPath.exec(url.pathname)?.[1]
  const platform = platforms.find(name => everyNetwork[name].path === path)
  if (request.method === 'GET' && platform) return callback(job, platform, request, viewer)
  if (request.method === 'POST' && platform) return confirmed(job, platform, request, viewer)
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
