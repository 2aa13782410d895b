import type { IncomingMessage } from 'node:http'

/** What a request line asks for (RFC 9112 §3.2). */
export interface Target {
  /** Path with query in the one spelling that it has here: nobody who reads it again reads another path. `*` for OPTIONS. */
  readonly url: string
  /** Host and port that are asked: those of the request line where it names them, else those of the Host header. */
  readonly host: string | undefined
}

/** A path of RFC 3986 §3.3: what a URL parser would write in another way does not stand in it. */
const spelledPath = /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2})*)+$/i
/** Empty and dot segments, which parsers take out; a path may end with a slash. */
const fleetingSegment = /\/(?:\/|\.\.?(?:\/|$))/
const written = /^(https?):\/\/([^/?#\\]*)(.*)$/is
/** Letters, digits and what else need not be encoded (RFC 3986 §2.3), both slashes, control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const hidden = /[\w.~/\\\x00-\x1f\x7f-]/
const authority = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?$/i

/** Names that hold a slash, where the last segment of a path is one: clients of models write `models/openai%2Fgpt-5-mini`. Nothing lies below. */
const slashedName = /^\/providers\/api\/ai\/models\/[\w.:@-]+(?:%2f[\w.:@-]+){1,3}$/i

/** Query parameters in which credentials travel elsewhere (RFC 6750 §2.3): addresses are kept by logs, histories and proxies. */
const bearers: ReadonlySet<string> = new Set(['access_token', 'id_token', 'refresh_token', 'bearer'])

const carriesToken = (query: string): boolean => query !== '' && [...new URLSearchParams(query).keys()].some(name => bearers.has(name.trim().toLowerCase()))

/**
 * Reads the request line, before anything is decided by it. In absolute form it comes before the Host header (RFC 9112 §3.2.2).
 * @param knows whether a host is one of ours: nobody is asked on behalf of others here
 * @returns a sentence for the client when there is more than one way to read it, or it is not meant for us
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

/** Node keeps the first of several, a proxy in front may have gone by another (RFC 9112 §3.2: such a request is refused). */
function namesSeveralHosts(rawHeaders: readonly string[] = []): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) if (rawHeaders[index]!.length === 4 && rawHeaders[index]!.toLowerCase() === 'host') count += 1
  return count > 1
}

/** Whether something is percent-encoded that need not be, or that would mean something else when it is decoded. */
const hidesCharacters = (path: string): boolean =>
  path.includes('%') &&
  !(slashedName.test(path) && !path.includes('..')) &&
  [...path.matchAll(/%(..)/g)].some(([, digits]) => hidden.test(String.fromCharCode(Number.parseInt(digits!, 16))))
