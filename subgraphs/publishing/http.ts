import { callback } from './integration/callback.ts'
import { networkFacts, type Platform } from './network/network.ts'
import type { Room } from './room.ts'

const callbackPath = /^\/publishing\/api\/integrations\/([a-z-]+)\/callback$/

/** Serves the rows that the router forwards to publishing: the networks' OAuth callbacks. */
export async function handle(room: Room, request: Request): Promise<Response> {
  const url = new URL(request.url)
  const path = callbackPath.exec(url.pathname)?.[1]
  const platform = (Object.keys(networkFacts) as Platform[]).find(name => networkFacts[name].path === path)
  if (request.method === 'GET' && platform) return callback(room, platform, url.searchParams)
  return Response.json({ title: 'Not found', status: 404, code: 'NOT_FOUND' }, { status: 404, headers: { 'content-type': 'application/problem+json' } })
}
