import { type CallService, usualCallMs } from '../../platform/ask.ts'
import { OutboundFailure } from '../../platform/outbound/failure.ts'
import { createOutbound } from '../../platform/outbound/outbound.ts'

/**
 * Calling from a process of its own: the row is asked for at the router, with a token of the service. Of several routers the next is asked where
 * one surely heard nothing.
 * @param tokenFor the token with which the service calls another one; null: it has none there, and cannot call it
 */
export function createRemoteCall(
  routerUrls: readonly string[],
  tokenFor: (slug: string) => string | null,
): { readonly call: CallService; close(): Promise<void> } {
  const outbound = createOutbound(routerUrls)
  const call: CallService = async (path, { appId, organizationId }, { method = 'GET', headers = {}, body = null, timeoutMs = usualCallMs } = {}) => {
    const token = tokenFor(path.split('/')[1]!)
    if (token === null) throw new OutboundFailure(`${appId} has no token for ${path.split('/')[1]}`, false)
    const as = { 'x-service-token': token, 'x-app-id': appId, ...(organizationId !== null && { 'x-organization-id': organizationId }) }
    for (const [at, url] of routerUrls.entries()) {
      try {
        const answer = await outbound.stream(`${url}${path}`, {
          method,
          headers: { ...headers, ...as },
          body,
          firstByteMs: timeoutMs,
          idleMs: timeoutMs,
          totalMs: timeoutMs,
          mostBytes: 1024 * 1024,
          freshConnection: method !== 'GET',
        })
        const parts: Uint8Array[] = []
        for await (const part of answer.body) parts.push(part)
        return { status: answer.status, headers: answer.headers, text: Buffer.concat(parts).toString('utf8') }
      } catch (error) {
        const isLast = at === routerUrls.length - 1
        if (isLast || !(error instanceof OutboundFailure) || error.sent) throw error
      }
    }
    throw new OutboundFailure('there is no router to ask', false)
  }
  return { call, close: () => outbound.close() }
}
