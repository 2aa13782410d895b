import type { IncrementalForm } from '../../engine/engine.ts'

/** How the payloads of an incremental answer are written into one HTTP answer. */
export interface IncrementalWriting {
  readonly name: 'multipart' | 'sse'
  readonly form: IncrementalForm
  readonly contentType: string
  /** Written before the first payload. */
  readonly begin: string
  /** Written when nothing else was written for a while. */
  readonly heartbeat: string
  next(json: string): string
  /** Writes the last payload, and that nothing follows. */
  last(json: string): string
}

const delimiter = '\r\n---\r\n'
const part = (json: string) => `content-type: application/json; charset=utf-8\r\n\r\n${json}`

/** The content types under which a client asks for each form; one that names no form gets that of 2022. */
const multipartTypes: Readonly<Record<string, readonly [IncrementalForm, contentType: string]>> = {
  'incrementalspec=v0.2': ['v0.2', 'multipart/mixed;boundary="-";incrementalSpec=v0.2'],
  'deferspec=20220824': ['20220824', 'multipart/mixed;boundary="-";deferSpec=20220824'],
  '': ['20220824', 'multipart/mixed;boundary="-"'],
}

function multipart(form: IncrementalForm, contentType: string): IncrementalWriting {
  // The delimiter follows its part at once: readers take a part as complete only then.
  return {
    name: 'multipart',
    form,
    contentType,
    begin: delimiter,
    heartbeat: `${part('{"hasNext":true}')}${delimiter}`,
    next: json => `${part(json)}${delimiter}`,
    last: json => `${part(json)}\r\n-----\r\n`,
  }
}

function sse(form: IncrementalForm): IncrementalWriting {
  const next = (json: string) => `event: next\ndata: ${json}\n\n`
  const contentType = 'text/event-stream; charset=utf-8'
  return { name: 'sse', form, contentType, begin: '', heartbeat: ':\n\n', next, last: json => `${next(json)}event: complete\ndata:\n\n` }
}

/** One media type of an Accept header. */
interface Accepted {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly q: number
}

/**
 * Returns how a client takes the payloads of an incremental answer, by its Accept header: the form with the highest
 * quality, of equal ones the first; multipart where JSON is not preferred to it. Null where it takes a whole answer only.
 * @param isWanted whether the operation may have several payloads; asked only where the header may name a form
 */
export function incrementalWritingOf(accept: string | null | undefined, isWanted = () => true): IncrementalWriting | null {
  if (!accept || !/multipart\/mixed|text\/event-stream/i.test(accept) || !isWanted()) return null
  const accepted = readAccepted(accept)
  const json = jsonIn(accepted)
  let best: { readonly q: number; readonly writing: IncrementalWriting } | null = null
  for (const [index, each] of accepted.entries()) {
    const writing = each.q > 0 ? writingOf(each) : null
    if (!writing || each.q < json.q || (best && each.q <= best.q)) continue
    // Events are taken where they are preferred to JSON: of equal ones the first is.
    if (writing.name === 'sse' && each.q === json.q && index > json.index) continue
    best = { q: each.q, writing }
  }
  return best?.writing ?? null
}

/** Returns the form in which a client takes the payloads of server-sent events, by its Accept header. */
export function sseFormOf(accept: string | null): IncrementalForm {
  const [best] = readAccepted(accept ?? '')
    .filter(({ type }) => type === 'text/event-stream')
    .toSorted((one, other) => other.q - one.q)
  return (best && writingOf(best)?.form) ?? 'v0.2'
}

function writingOf({ type, parameters }: Accepted): IncrementalWriting | null {
  if (type === 'text/event-stream') return sse(parameters.get('deferspec') === '20220824' ? '20220824' : 'v0.2')
  // Apollo's protocol of subscriptions has payloads of its own.
  if (type !== 'multipart/mixed' || parameters.has('subscriptionspec')) return null
  const named = ['incrementalspec', 'deferspec'].find(name => parameters.has(name))
  const found = multipartTypes[named === undefined ? '' : `${named}=${parameters.get(named)!.toLowerCase()}`]
  return found ? multipart(...found) : null
}

/** The quality of the JSON types and the place where it is named; that of a wildcard, which comes last, where neither is. */
function jsonIn(accepted: readonly Accepted[]): { readonly q: number; readonly index: number } {
  for (const names of [['application/json', 'application/graphql-response+json'], ['application/*'], ['*/*']]) {
    const found = accepted.filter(({ type }) => names.includes(type))
    if (found.length === 0) continue
    const best = found.reduce((one, other) => (other.q > one.q ? other : one))
    return { q: best.q, index: best.type.endsWith('*') ? accepted.length : accepted.indexOf(best) }
  }
  return { q: 0, index: accepted.length }
}

function readAccepted(accept: string): Accepted[] {
  return split(accept, ',').map(item => {
    const [type = '', ...rest] = split(item, ';')
    const parameters = new Map(
      rest.map(each => {
        const at = each.indexOf('=')
        const name = (at < 0 ? each : each.slice(0, at)).trim().toLowerCase()
        return [name, at < 0 ? '' : unquoted(each.slice(at + 1).trim())] as const
      }),
    )
    const q = Number(parameters.get('q') ?? 1)
    return { type: type.trim().toLowerCase(), parameters, q: Number.isFinite(q) ? q : 0 }
  })
}

/** Splits a header at a separator that is not within quotes. */
function split(text: string, separator: string): string[] {
  const parts: string[] = []
  let [part, isQuoted] = ['', false]
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted
    if (character === separator && !isQuoted) {
      parts.push(part)
      part = ''
    } else part += character
  }
  return [...parts, part]
}

const unquoted = (text: string): string => (/^".*"$/.test(text) ? text.slice(1, -1) : text)
