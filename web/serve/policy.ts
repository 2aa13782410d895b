import type { FastifyRequest } from 'fastify'

/** What a page may load. */
export interface PolicyNeeds {
  /** New in each answer: what style elements of our own libraries carry. */
  readonly nonce: string
  /** Origins of our own hosts, from which pictures and films come. */
  readonly origins: readonly string[]
  /** Where this page's WebSocket is. */
  readonly socket: string
  readonly publicUrl: string
}

/** The content-security policy of every page: own scripts from files alone, nothing evaluated, nothing from elsewhere. */
export function policyOf({ nonce, origins, socket, publicUrl }: PolicyNeeds): string {
  const media = ["'self'", 'data:', 'blob:', ...origins].join(' ')
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src ${media}`,
    `media-src ${media}`,
    "font-src 'self'",
    `connect-src 'self' ${socket}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    `form-action 'self' ${publicUrl}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types supergraph',
  ].join('; ')
}

/** The origin of this page's WebSocket: the host that was asked, by the scheme of the platform. */
export function socketOf({ headers: { host = '' } }: FastifyRequest, publicUrl: string): string {
  const scheme = publicUrl.startsWith('https:') ? 'wss' : 'ws'
  return /^[\w.-]+(?::\d{1,5})?$/.test(host) ? `${scheme}://${host}` : publicUrl.replace(/^http/, 'ws')
}
