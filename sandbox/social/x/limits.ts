import type { World } from './world.ts'

/** Calls that a user may make in fifteen minutes: https://docs.x.com/x-api/fundamentals/rate-limits */
export const limits = {
  'POST /2/tweets': 100,
  'DELETE /2/tweets/:id': 50,
  'GET /2/tweets': 5000,
  'GET /2/tweets/:id': 900,
  'GET /2/users/:id/tweets': 900,
  'GET /2/users/me': 75,
  'POST /2/media/upload/initialize': 1875,
  'POST /2/media/upload/:id/append': 1875,
  'POST /2/media/upload/:id/finalize': 1875,
  'GET /2/media/upload': 1000,
  'POST /2/media/metadata': 500,
} as const

export type Endpoint = keyof typeof limits

const windowLength = 15 * 60_000 // milliseconds

/** Counts a call of this account; `allowed` is false once the window is used up. The headers go with every answer. */
export function countCall(world: World, endpoint: Endpoint, accountId: string): { allowed: boolean; headers: Record<string, string> } {
  const key = `${endpoint} ${accountId}`
  const now = world.clock.now().getTime()
  const stored = world.windows.get(key)
  const current = stored && now < stored.startedAt + windowLength ? stored : { startedAt: now, count: 0 }
  const limit = limits[endpoint]
  const allowed = current.count < limit
  const count = allowed ? current.count + 1 : current.count
  if (allowed) world.windows.set(key, { ...current, count })
  return { allowed, headers: limitHeaders(limit, limit - count, current.startedAt + windowLength) }
}

/** @param resetAt Unix milliseconds; X tells whole seconds */
export function limitHeaders(limit: number, remaining: number, resetAt: number): Record<string, string> {
  return { 'x-rate-limit-limit': String(limit), 'x-rate-limit-remaining': String(remaining), 'x-rate-limit-reset': String(Math.ceil(resetAt / 1000)) }
}
