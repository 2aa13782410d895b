/**
 * Request headers that are forwarded to the network: those about the body and the wanted answer. The connection's token
 * is the only credential.
 */
const sent =
  /^(?:accept|accept-language|content-(?:type|length|range|md5|disposition|encoding)|if-(?:match|none-match|modified-since|unmodified-since)|range|slug|user-agent|x-goog-api-client|x-upload-content-(?:type|length))$/

/**
 * Answer headers that are forwarded: those about the body and the progress of an upload; none for the network's own
 * pages or connection.
 */
const handed =
  /^(?:cache-control|content-(?:type|length|range|disposition|encoding|language)|date|etag|expires|last-modified|location|range|retry-after|vary|x-guploader-uploadid|x-goog-.*|www-authenticate)$/

/**
 * Returns the forwarded headers of a request, with the connection's token. @param hasBody whether the request has a
 * body, whose length is forwarded
 */
export function headersOut(headers: Headers, token: string, hasBody: boolean): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [name, value] of headers) if (sent.test(name) && (hasBody || name !== 'content-length')) out[name] = value
  return { ...out, authorization: `Bearer ${token}` }
}

/** Returns the forwarded headers of an answer. */
export function headersBack(headers: Headers): Headers {
  const back = new Headers()
  for (const [name, value] of headers) if (handed.test(name)) back.append(name, value)
  // The answer is for one person, whatever its caching headers say.
  const kept = back.get('cache-control')
  back.set('cache-control', kept && /\b(?:no-store|private)\b/i.test(kept) ? kept : 'no-store')
  return back
}

/**
 * Returns the path below the network's address for a path of ours; null when there is none. Encoded paths are rejected,
 * because the network could decode them differently.
 */
export function pathBelow(pathname: string): string | null {
  return passed(pathname.replace(/^\/providers\/platform\/youtube\//, ''))
}

function passed(path: string): string | null {
  return /^(?:upload\/)?youtube\/v3\/[\w./=-]+$/.test(path) && !path.split('/').some(part => part === '.' || part === '..' || part === '') ? path : null
}

/** Whether a call continues an upload, which was counted at its start. */
export const isPartOfUpload = (method: string, path: string, query: URLSearchParams): boolean =>
  method === 'PUT' && path.startsWith('upload/') && query.get('uploadType') === 'resumable' && Boolean(query.get('upload_id'))

/**
 * Converts an address of the network to one of ours; null for an address outside the forwarded paths.
 * @param base base address of the network
 * @param ours prefix of its paths at our address
 */
export function ledBack(location: string, base: string, ours: string): string | null {
  if (!URL.canParse(location, `${base}/`)) return null
  const { href } = new URL(location, `${base}/`)
  const from = new URL(`${base}/`).href
  if (!href.startsWith(from)) return null
  const rest = href.slice(from.length)
  return passed(rest.split(/[?#]/, 1)[0]!) ? `${ours}/${rest}` : null
}
