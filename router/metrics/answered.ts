import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/**
 * Calls back once an answer has ended: sent completely, or cut off because its client left, as for most streams.
 * Fastify's own hook covers the former only.
 * @param work receives whether the answer was sent completely
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
      // An injected request, which has no connection, emits `close` in the same turn before it has finished.
      if (raw.headersSent && !raw.writableFinished) setImmediate(once, request, reply, false)
    })
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    once(request, reply, true)
    done()
  })
}
