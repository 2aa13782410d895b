import type { StreamOptions, StreamOutbound } from '../../../../platform/outbound/stream.ts'

/** Time limit in ms of one request, redirects included. */
const askMs = 10_000
const mostBytes = 32 * 1024 * 1024
const mostRedirects = 3

export interface TextAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/**
 * Asks an address for a text of at most 32 MiB, within 10 s. Up to three redirects are followed, never to another
 * scheme; headers go to the first origin alone, because they may hold keys.
 * @throws OutboundFailure when no answer arrives; Error for a redirect that leads nowhere
 */
export async function readText(
  stream: StreamOutbound,
  url: string,
  { headers = {}, ...asked }: Pick<StreamOptions, 'method' | 'headers' | 'body'> = {},
): Promise<TextAnswer> {
  const first = new URL(url)
  const until = performance.now() + askMs
  let target = first
  for (let redirects = 0; ; redirects += 1) {
    const leftMs = Math.max(1, until - performance.now())
    const sent = target.origin === first.origin ? headers : {}
    const answer = await stream(target, {
      ...asked,
      headers: { 'user-agent': 'supergraph', ...sent },
      mostBytes,
      firstByteMs: leftMs,
      idleMs: leftMs,
      totalMs: leftMs,
    })
    const location = answer.headers.get('location')
    if (![301, 302, 303, 307, 308].includes(answer.status) || location === null) return { ...answer, text: await textOf(answer.body) }
    answer.cancel()
    if (redirects === mostRedirects) throw new Error(`${first.origin} redirects more than ${mostRedirects} times`)
    if (!URL.canParse(location, target.href)) throw new Error(`${first.origin} redirects to no address`)
    target = new URL(location, target)
    if (target.protocol !== first.protocol) throw new Error(`${first.origin} redirects to ${target.protocol}, and only ${first.protocol} is followed`)
  }
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}
