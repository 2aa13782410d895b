import { Readable } from 'node:stream'
import type { Logger } from 'pino'
import type { WayOut } from '../../../../platform/outbound/outbound.ts'

interface Icons {
  readonly outbound: Pick<WayOut, 'stream'>
  readonly developersUrl: string | null
  readonly log: Logger
}

const maxBytes = 512 * 1024

/** An icon may be a drawing with scripts: browsers must not run them on our origin. */
const headers = {
  'cache-control': 'public, max-age=3600',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
}

const hasOrigin = (url: string, of: string): boolean => URL.canParse(url) && new URL(url).origin === new URL(of).origin

/** Streams an icon from the developer platform, and from nowhere else. @returns null when there is none to be had */
export async function openIcon({ outbound, developersUrl, log }: Icons, url: string | null, signal: AbortSignal): Promise<Response | null> {
  if (url === null || developersUrl === null || !hasOrigin(url, developersUrl)) return null
  try {
    const answer = await outbound.stream(url, {
      headers: { accept: 'image/*' },
      firstByteMs: 3_000,
      idleMs: 3_000,
      totalMs: 10_000,
      mostBytes: maxBytes,
      signal,
    })
    const type = answer.headers.get('content-type') ?? ''
    if (answer.status === 200 && /^image\/[\w.+-]+/.test(type))
      return new Response(Readable.toWeb(Readable.from(answer.body, { objectMode: false })) as never, { headers: { ...headers, 'content-type': type } })
    answer.cancel()
  } catch (error) {
    log.debug({ err: error }, 'icon not read')
  }
  return null
}

/** Draws an icon: the first letter of an app's title on a colour of its own. */
export function drawn({ app, title }: { readonly app: string; readonly title: string }): Response {
  const hue = [...app].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 360, 7)
  const letter = ([...title][0] ?? '?').toUpperCase().replace(/[<>&"']/, '?')
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img"><rect width="64" height="64" rx="14" fill="hsl(${hue} 55% 38%)"/><text x="32" y="44" fill="#fff" font-family="system-ui,sans-serif" font-size="36" font-weight="600" text-anchor="middle">${letter}</text></svg>`
  return new Response(svg, { headers: { ...headers, 'content-type': 'image/svg+xml' } })
}
