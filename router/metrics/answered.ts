import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/**
 * Does something once an answer is over: when all of it was sent, or when its client left in the middle of it, as most leave a stream.
 * Fastify's own hook knows the former alone.
 * @param work is told whether all was sent
 */
export function onAnswered(app: FastifyInstance, work: (request: FastifyRequest, reply: FastifyReply, isWhole: boolean) => void): void {
  const begun = new WeakSet<FastifyRequest>()
  const once = (request: FastifyRequest, reply: FastifyReply, isWhole: boolean) => {
    if (begun.delete(request)) work(request, reply, isWhole)
  }
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = reply
    begun.add(request)
    raw.once('close', () => {
      // What is asked without a connection is closed before it has finished, in the same turn.
      if (raw.headersSent && !raw.writableFinished) setImmediate(once, request, reply, false)
    })
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    once(request, reply, true)
    done()
  })
}
