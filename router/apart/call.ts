import { type CallAs, type CallService, type CallStream, type CallWhole, forUserHeader, usualCallMs, usualStreamMs } from '../../platform/ask.ts'
import { OutboundFailure } from '../../platform/outbound/failure.ts'
import { createOutbound } from '../../platform/outbound/outbound.ts'
import type { StreamedAnswer, StreamOptions } from '../../platform/outbound/stream.ts'

/**
 * Creates the client by which a separate process calls routes at the router, with a token of the service. With several
 * routers the next one is tried if the first certainly received nothing.
 * @param tokenFor returns the token with which the service calls another one; null if it may not call that service
 */
export function createRemoteCall(
  routerUrls: readonly string[],
  tokenFor: (slug: string) => string | null,
): { readonly call: CallService; close(): Promise<void> } {
  const outbound = createOutbound(routerUrls)

  /** @throws OutboundFailure when the service may not make the call, or no router answers */
  const send = async (path: string, { appId, organizationId, forUser = null }: CallAs, options: StreamOptions): Promise<StreamedAnswer> => {
    const token = tokenFor(path.split('/')[1]!)
    if (token === null) throw new OutboundFailure(`${appId} has no token for ${path.split('/')[1]}`, false)
    const as = {
      ...{ 'x-service-token': token, 'x-app-id': appId },
      ...(organizationId !== null && { 'x-organization-id': organizationId }),
      ...(forUser !== null && { [forUserHeader]: forUser }),
    }
    for (const [at, url] of routerUrls.entries()) {
      try {
        return await outbound.stream(`${url}${path}`, { ...options, headers: { ...options.headers, ...as }, freshConnection: options.method !== 'GET' })
      } catch (error) {
        const isLast = at === routerUrls.length - 1
        if (isLast || !(error instanceof OutboundFailure) || error.sent) throw error
      }
    }
    throw new OutboundFailure('there is no router to ask', false)
  }
  const whole: CallWhole = async (path, as, { method = 'GET', headers = {}, body = null, timeoutMs = usualCallMs } = {}) => {
    const times = { firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs }
    const answer = await send(path, as, { method, headers, body, ...times, mostBytes: 1024 * 1024 })
    const parts: Uint8Array[] = []
    for await (const part of answer.body) parts.push(part)
    return { status: answer.status, headers: answer.headers, text: Buffer.concat(parts).toString('utf8') }
  }
  const { idleMs: usualIdleMs, totalMs: usualTotalMs } = usualStreamMs
  const stream: CallStream = (path, as, { method = 'GET', headers = {}, body = null, idleMs = usualIdleMs, totalMs = usualTotalMs, signal } = {}) =>
    send(path, as, { method, headers, body, firstByteMs: idleMs, idleMs, totalMs, signal })
  return { call: Object.assign(whole, { stream }), close: () => outbound.close() }
}
