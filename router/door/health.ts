import type { FastifyInstance } from 'fastify'
import { problem, problemType } from './errors.ts'

/** One thing that must work before the platform takes requests. */
export interface ReadinessCheck {
  /** Short and plain: `database`, `migrations`, `publishing`. */
  readonly name: string
  /** Resolves when it works, rejects when it does not. */
  check(): Promise<void>
}

/** How long a check may take, in milliseconds. */
const patienceMs = 2000

/** `/health/live`: the process answers. `/health/ready`: everything behind it does too, else 503. Neither reads credentials. */
export function serveHealth(app: FastifyInstance, checks: readonly ReadinessCheck[]): void {
  app.get('/health/live', async (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'live' }))
  app.get('/health/ready', async (request, reply) => {
    const seen = await Promise.all(checks.map(async each => ({ name: each.name, ready: await works(each) })))
    reply.header('cache-control', 'no-store')
    const missing = seen.filter(each => !each.ready).map(each => each.name)
    if (missing.length === 0) return reply.send({ status: 'ready', checks: seen })
    return reply
      .code(503)
      .header('content-type', problemType)
      .send(JSON.stringify(problem(503, 'NOT_READY', `Not ready: ${missing.join(', ')}. Try again in a moment.`, request.id, { checks: seen })))
  })
}

async function works(each: ReadinessCheck): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(resolve, patienceMs, false)
  })
  try {
    return await Promise.race([each.check().then(() => true), late])
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}
