import type { IncomingHttpHeaders } from 'node:http'

/** The headers of a request of node:http in the form of the Fetch standard. */
export function webHeaders(incoming: IncomingHttpHeaders): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming)) {
    if (value === undefined || name.startsWith(':')) continue
    for (const each of Array.isArray(value) ? value : [value]) headers.append(name, each)
  }
  return headers
}
