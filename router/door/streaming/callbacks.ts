import type { FastifyInstance } from 'fastify'
import { readJsonBodies } from '../body.ts'
import { doorRefusal } from '../errors.ts'

/** Receives the calls of subgraphs. */
export interface Called {
  /** Whether calls of a subscription are taken. */
  knows(id: string): boolean | Promise<boolean>
  /** Takes one call. @param id in its path @param bytes of its body */
  take(id: string, body: unknown, bytes: number): CallAnswer | Promise<CallAnswer>
}

/** The answer to a call. */
interface CallAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** Path below which subgraphs call. */
export const callbacksPath = '/subscriptions/callback'

/**
 * Serves the calls of subgraphs that are subscribed to by callbacks. They are no clients: no session and no CORS counts,
 * only the id in the path and the verifier in the body.
 * @param mostBytes of one call
 */
export function serveCallbacks(app: FastifyInstance, callbacks: Called, mostBytes: number): void {
  app.register(async scope => {
    readJsonBodies(scope, mostBytes)
    scope.post<{ Params: { id: string } }>(
      `${callbacksPath}/:id`,
      {
        // Before its body is read: whoever does not know an id sends for nothing.
        async onRequest({ params: { id } }) {
          if (!(await callbacks.knows(id))) throw doorRefusal(404, 'There is no such subscription, or it is over.')
        },
      },
      async (request, reply) => {
        const bytes = Number(request.headers['content-length']) || JSON.stringify(request.body ?? null).length
        const { status, headers = {}, body } = await callbacks.take(request.params.id, request.body, bytes)
        if (status === 401) throw doorRefusal(401, 'The verifier is another one.')
        if (status === 404) throw doorRefusal(404, 'There is no such subscription, or it is over.')
        if (status === 503) throw doorRefusal(503, 'The process that listens to this subscription does not answer: send the call again.')
        return reply.code(status).headers(headers).send(body)
      },
    )
  })
}
