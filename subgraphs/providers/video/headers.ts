/** Headers of a request that the network is sent: what the body is, what is wanted of the answer. No credential but the connection's is among them. */
const sent =
  /^(?:accept|accept-language|content-(?:type|length|range|md5|disposition|encoding)|if-(?:match|none-match|modified-since|unmodified-since)|range|slug|user-agent|x-goog-api-client|x-upload-content-(?:type|length))$/

/** Headers of an answer that are handed on: what the body is, how far an upload is. None is for the network's own pages, or about its connection. */
const handed =
  /^(?:cache-control|content-(?:type|length|range|disposition|encoding|language)|date|etag|expires|last-modified|location|range|retry-after|vary|x-guploader-uploadid|x-goog-.*|www-authenticate)$/

/** What of a request's headers goes to the network, with the connection's token. @param hasBody whether there is one, which has a length then */
export function headersOut(headers: Headers, token: string, hasBody: boolean): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [name, value] of headers) if (sent.test(name) && (hasBody || name !== 'content-length')) out[name] = value
  return { ...out, authorization: `Bearer ${token}` }
}

/** What of an answer's headers goes back. */
export function headersBack(headers: Headers): Headers {
  const back = new Headers()
  for (const [name, value] of headers) if (handed.test(name)) back.append(name, value)
  // The answer is for one person, whatever its caching headers say.
  const kept = back.get('cache-control')
  back.set('cache-control', kept && /\b(?:no-store|private)\b/i.test(kept) ? kept : 'no-store')
  return back
}

/** Where below the network's address a path of ours leads; null: nowhere. What is encoded could be read in another way there. */
export function pathBelow(pathname: string): string | null {
  return passed(pathname.replace(/^\/providers\/platform\/youtube\//, ''))
}

function passed(path: string): string | null {
  return /^(?:upload\/)?youtube\/v3\/[\w./=-]+$/.test(path) && !path.split('/').some(part => part === '.' || part === '..' || part === '') ? path : null
}

/** A call that goes on with an upload that has begun: it is counted there. */
export const isPartOfUpload = (method: string, path: string, query: URLSearchParams): boolean =>
  method === 'PUT' && path.startsWith('upload/') && query.get('uploadType') === 'resumable' && Boolean(query.get('upload_id'))

/**
 * Leads an address of the network to us; null for one that is not below what is passed on here.
 * @param base where the network is
 * @param ours what stands before its paths here
 */
export function ledBack(location: string, base: string, ours: string): string | null {
  if (!URL.canParse(location, `${base}/`)) return null
  const { href } = new URL(location, `${base}/`)
  const from = new URL(`${base}/`).href
  if (!href.startsWith(from)) return null
  const rest = href.slice(from.length)
  return passed(rest.split(/[?#]/, 1)[0]!) ? `${ours}/${rest}` : null
}
