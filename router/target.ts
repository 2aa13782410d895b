import type { IncomingMessage } from 'node:http'

/** Target of a request line (RFC 9112 §3.2). */
export interface Target {
  /** Path with query in its only accepted spelling, so that every later reader finds the same path. `*` for OPTIONS. */
  readonly url: string
  /** Requested host and port: from the request line if it names them, else from the Host header. */
  readonly host: string | undefined
}

/** Matches a path of RFC 3986 §3.3 without characters that a URL parser would change. */
const spelledPath = /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2})*)+$/i
/** Matches empty and dot segments, which parsers remove; a path may end with a slash. */
const fleetingSegment = /\/(?:\/|\.\.?(?:\/|$))/
const written = /^(https?):\/\/([^/?#\\]*)(.*)$/is
/** Matches percent-encoded characters that need no encoding (RFC 3986 §2.3), both slashes, and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const hidden = /[\w.~/\\\x00-\x1f\x7f-]/
const authority = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?$/i

/**
 * Matches paths whose last segment is a name that contains a slash: clients of models write
 * `models/openai%2Fgpt-5-mini`. No route continues behind it.
 */
const slashedName = /^\/providers\/api\/ai\/models\/[\w.:@-]+(?:%2f[\w.:@-]+){1,3}$/i

/**
 * Query parameters that carry credentials elsewhere (RFC 6750 §2.3). They are rejected, because logs, histories and
 * proxies store addresses.
 */
const bearers: ReadonlySet<string> = new Set(['access_token', 'id_token', 'refresh_token', 'bearer'])

const carriesToken = (query: string): boolean => query !== '' && [...new URLSearchParams(query).keys()].some(name => bearers.has(name.trim().toLowerCase()))

/**
 * Reads the request line, before any decision. A host in absolute form takes precedence over the Host header (RFC 9112
 * §3.2.2).
 * @param knows whether a host is one of ours; the router is no proxy for others
 * @returns a sentence for the client when the target is ambiguous or belongs to another host
 */
export function readTarget({ method, url = '/', headers, rawHeaders }: Request, knows: (host: string) => boolean): Target | string {
  if (namesSeveralHosts(rawHeaders)) return 'The request has several Host headers: send one.'
  if (url === '*' && method === 'OPTIONS') return { url, host: headers.host }
  const [, , named, rest = ''] = written.exec(url) ?? []
  if (named !== undefined && !(authority.test(named) && knows(named)))
    return `The request line names the host "${named.slice(0, 100)}", which is none of this platform's: nothing is passed on to others here.`
  const target = named === undefined ? url : rest.startsWith('/') ? rest : `/${rest}`
  if (target.includes('#')) return 'The address holds a fragment, which browsers keep to themselves: send it without.'
  const path = target.split('?', 1)[0]!
  if (carriesToken(target.slice(path.length + 1)))
    return 'The address carries a token, and addresses are written down in many places: send it in the Authorization header, and get a new one.'
  if (!spelledPath.test(path) || fleetingSegment.test(path) || hidesCharacters(path))
    return 'The path could be read as another one: send it without dot segments, empty segments, backslashes, and encodings of letters, digits, dots, slashes or control characters.'
  return { url: target, host: named ?? headers.host }
}

type Request = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'rawHeaders'>

/**
 * Whether a request has several Host headers: Node uses the first one, but a proxy in front may have used another (RFC
 * 9112 §3.2 requires a rejection).
 */
function namesSeveralHosts(rawHeaders: readonly string[] = []): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) if (rawHeaders[index]!.length === 4 && rawHeaders[index]!.toLowerCase() === 'host') count += 1
  return count > 1
}

/** Whether a path percent-encodes a character that needs no encoding or that changes its meaning when decoded. */
const hidesCharacters = (path: string): boolean =>
  path.includes('%') &&
  !(slashedName.test(path) && !path.includes('..')) &&
  [...path.matchAll(/%(..)/g)].some(([, digits]) => hidden.test(String.fromCharCode(Number.parseInt(digits!, 16))))
