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

/** How much a client wants a media type: its q in the Accept header, and what stands first when two are equal. */
function wish(accept: string, names: readonly string[]): { readonly q: number; readonly place: number } {
  let best = { q: 0, place: Number.POSITIVE_INFINITY }
  for (const [place, part] of accept.toLowerCase().split(',').entries()) {
    const [name = '', ...parameters] = part.split(';').map(each => each.trim())
    if (!names.includes(name)) continue
    const weight = parameters.find(each => each.startsWith('q='))
    const q = weight ? Number(weight.slice(2)) || 0 : 1
    if (q > best.q) best = { q, place }
  }
  return best
}

/** Whether a client would rather have a GraphQL answer in its own media type than as plain JSON. */
export function prefersResponseJson(accept: string | null | undefined): boolean {
  if (!accept) return false
  const [strict, plain] = [wish(accept, ['application/graphql-response+json']), wish(accept, ['application/json', 'application/*', '*/*'])]
  return strict.q > 0 && (strict.q > plain.q || (strict.q === plain.q && strict.place < plain.place))
}

/** Whether a client is a browser that shows a page: it wants HTML more than JSON. */
export function prefersHtml(accept: string | null | undefined): boolean {
  if (!accept) return false
  const [html, json] = [wish(accept, ['text/html']), wish(accept, ['application/json', 'application/graphql-response+json'])]
  return html.q > json.q
}
