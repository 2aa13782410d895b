import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { isToken } from '../../metrics/reader.ts'
import { readJsonBodies } from '../body.ts'
import { doorRefusal } from '../errors.ts'

const named = z.string().min(1).max(1000)

const invalidations = z
  .array(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('subgraph'), subgraph: named }),
      z.object({ kind: z.literal('type'), subgraph: named, type: named }),
      z.object({ kind: z.literal('cache_tag'), subgraphs: z.array(named).min(1).max(100), cache_tag: named }),
    ]),
  )
  .min(1)
  .max(1000)

/** What is to be dropped from the response cache, in the form of Apollo's router. */
export type Invalidation = z.infer<typeof invalidations>[number]

/** Maximum bytes of a request. */
const mostBytes = 1024 * 1024

/**
 * Serves `POST /invalidation`, which drops what subgraphs answered from the response cache.
 * @param token what callers send as `authorization`, alone or as a bearer token
 * @param drop  @returns how many answers it dropped
 */
export function serveInvalidation(app: FastifyInstance, token: string, drop: (invalidations: readonly Invalidation[]) => Promise<number>): void {
  app.register(async scope => {
    readJsonBodies(scope, mostBytes)
    scope.post(
      '/invalidation',
      {
        // Before its body is read: others send for nothing.
        async onRequest({ headers: { authorization = '' } }) {
          const given = /^bearer +(.*)$/i.exec(authorization)?.[1] ?? authorization
          if (!isToken(given, token)) throw doorRefusal(401, 'Send the token of this router as Authorization.')
        },
      },
      async (request, reply) => {
        const read = invalidations.safeParse(request.body)
        if (!read.success) throw doorRefusal(400, `The body is no list of invalidations: ${sentenceOf(read.error.issues[0])}.`)
        return reply
          .code(202)
          .header('cache-control', 'no-store')
          .send({ count: await drop(read.data) })
      },
    )
  })
}

const sentenceOf = (issue: z.core.$ZodIssue | undefined): string =>
  issue ? `${issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''}${issue.message}` : 'it is empty'
