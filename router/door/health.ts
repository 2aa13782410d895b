import type { FastifyInstance } from 'fastify'
import { NotReady } from '../../platform/errors.ts'
import { problem, problemType } from './errors.ts'

/** A dependency that must work before the platform accepts requests. */
export interface ReadinessCheck {
  /** Short plain name: `database`, `migrations`, `publishing`. */
  readonly name: string
  /**
   * Resolves when the dependency works, rejects when it does not; only the message of a `NotReady` is shown.
   * @returns a notice for operators about a dependency that works, in a sentence
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: who has nothing to say returns nothing
  check(): Promise<string | void>
}

/** Result of a check. */
export interface Found {
  readonly name: string
  readonly ready: boolean
  readonly reason?: string
  /** Notice for operators about a dependency that works. */
  readonly notice?: string
}

/** Time limit of a check, in milliseconds. */
const timeoutMs = 2000

/**
 * Serves the health routes. `/health/live`: the process answers. `/health/ready`: its dependencies work too, else 503,
 * also while the process shuts down. Neither reads credentials.
 */
export function serveHealth(app: FastifyInstance, checks: readonly ReadinessCheck[], leaving: () => boolean): void {
  const look = createReadiness(checks)
  app.get('/health/live', async (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'live' }))
  app.get('/health/ready', async (request, reply) => {
    const seen = leaving() ? [{ name: 'process', ready: false, reason: 'it is stopping' }] : await look()
    reply.header('cache-control', 'no-store')
    const missing = seen.filter(each => !each.ready).map(({ name, reason }) => (reason ? `${name} (${reason})` : name))
    if (missing.length === 0) return reply.send({ status: 'ready', checks: seen })
    return reply
      .code(503)
      .header('content-type', problemType)
      .send(JSON.stringify(problem(503, 'NOT_READY', `Not ready: ${missing.join(', ')}. Try again in a moment.`, request.id, { checks: seen })))
  })
}

/** Creates a function that runs all checks at once, each within 2 s. Concurrent callers share one run. */
export function createReadiness(checks: readonly ReadinessCheck[]): () => Promise<readonly Found[]> {
  let looking: Promise<readonly Found[]> | undefined
  return () => {
    looking ??= Promise.all(checks.map(find)).finally(() => {
      looking = undefined
    })
    return looking
  }
}

async function find(each: ReadinessCheck): Promise<Found> {
  const { name } = each
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Found>(resolve => {
    timer = setTimeout(resolve, timeoutMs, { name, ready: false, reason: `no answer within ${timeoutMs / 1000} s` })
  })
  try {
    return await Promise.race([each.check().then(notice => ({ name, ready: true, ...(notice && { notice }) })), late])
  } catch (error) {
    return { name, ready: false, ...(error instanceof NotReady && { reason: error.message }) }
  } finally {
    clearTimeout(timer)
  }
}
