import type { Reply } from '../kit/door.ts'

/** One exchange as it happened, in the form in which it is the same at every run. */
export interface Recorded {
  readonly request?: unknown
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A moment that stands for the one at which the test's clock stands still. */
const moment = Date.UTC(2027, 2, 1, 9)
/** The beginning of a moment's day. */
const dayOf = (at: number): number => at - (at % 86_400_000)

/**
 * Writes down what was sent and answered. What differs from run to run is replaced by what could stand there: ids by ids in the order in
 * which they turn up, moments by others that are as far apart, secrets and places of the test by some of the kind.
 * @param now where the test's clock stands
 */
export function recorded(request: unknown, { status, headers, json }: Reply, now: Date): Recorded {
  const ids = new Map<string, string>()
  const steady = (text: string): string =>
    text
      .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, id => {
        if (!ids.has(id)) ids.set(id, `01990000-0000-7000-8000-${String(ids.size + 1).padStart(12, '0')}`)
        return ids.get(id)!
      })
      .replaceAll(
        /\b(?:prod|price|cus|pm|sub|si|cs_test|pi|re|trr?|bps|du|file)_[A-Za-z\d]{24}(?![A-Za-z\d])/g,
        id => `${id.slice(0, id.lastIndexOf('_'))}_1Example`,
      )
      .replaceAll(/(?<=supergraph-domain=)[\da-f]{40}/g, '0123456789abcdef'.repeat(3).slice(0, 40))
      .replaceAll(/\bsg[\da-f]{8}(?=\._domainkey)/g, 'sg01234567')
      .replaceAll(/(?<=\bp=)[A-Za-z\d+/=]{200,}/g, 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A')
      .replaceAll(/(?<=_secret_)[A-Za-z\d]{24}\b/g, 'Example')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, at => new Date(moment + Math.ceil((Date.parse(at) - now.getTime()) / 1000) * 1000).toISOString())
      .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl')
      .replaceAll(/(?<=[?&](?:state|code_challenge|client_id)=)[\w-]+/g, 'V2hhdGV2ZXIgaXMgbm9ib2R5J3MgYnVzaW5lc3M')
      .replaceAll(/sg([ks])_[\w-]+/g, (key, kind) => `sg${kind}_`.padEnd(key.length, 'Example'))
      .replaceAll(/(?<=\/calendar\/)[\w-]{43}(?=\.ics)/g, 'V2hvZXZlciBrbm93cyBpdCByZWFkcyB0aGUgcG9zdHM')
      .replaceAll(/(?<=\/agents\/approval\?code=)[\w-]{43}/g, 'T25jZSBhbmQgZm9yIG9uZSBkZWNpc2lvbiBhbG9uZSw')
      .replaceAll(/(?<=\/agents\/api\/hooks\/)[\w-]{43}/g, 'RWFjaCBjYWxsIGJlZ2lucyBhIHJ1biwgYXQgb25jZS4')
      .replaceAll(/(?<=\/payments\/pay\/)[\w-]{32}/g, 'V2hvZXZlciBoYXMgdGhpcyBtYXkgcGF5')
      .replaceAll(/(?<=[?&]sso_code=)[\w-]{43}/g, 'T25lIG1pbnV0ZSwgb25lIHNlcnZpY2UsIG9uZSB1c2U')
      .replaceAll(/(?<=[?&]expires=)\d+/g, '1803897000')
      .replaceAll(/(?<=&signature=)[\w-]{43}/g, 'SW4gYW4gaG91ciBubyBvbmUgc2VlcyBpdCBhbnltb3Jl')
      .replaceAll(/^[\da-f]{64}$/g, '0123456789abcdef'.repeat(4))
      .replaceAll(/^\d{19}$/g, '1234567890123456789')
      .replaceAll(/whsec_[A-Za-z\d+/=]+/g, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
      .replaceAll(/(?<=localhost:)\d+/g, '4100')
      .replaceAll(/(?<=^W\/")[\w-]+/g, 'cyKIoO1kzVQ0Yp2mT8Pq1Qe7b3w')
  const walk = (value: unknown, key = ''): unknown => {
    // The distance to a period's end depends on the day of the test.
    if (typeof value === 'string' && key === 'resetsAt') return '2027-04-01T00:00:00.000Z'
    if (typeof value === 'string' && key === 'day') return new Date(dayOf(moment) + Date.parse(value) - dayOf(now.getTime())).toISOString().slice(0, 10)
    if (typeof value === 'string' && key === 'time') return '09:00'
    // The catalogue of apps has moments of its own.
    if (typeof value === 'string' && key === 'releasedAt') return '2027-02-01T09:00:00.000Z'
    if (typeof value === 'string') return key === 'nextCursor' ? 'WyIyMDI3LTAzLTAxIl0' : steady(value)
    if (Array.isArray(value)) return value.map(each => walk(each))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner, name)]))
  }
  const told = Object.fromEntries(['etag', 'location'].flatMap(name => (headers[name] === undefined ? [] : [[name, steady(String(headers[name]))]])))
  return {
    ...(request !== undefined && { request: walk(request) }),
    status,
    ...(Object.keys(told).length > 0 && { headers: told }),
    ...(json !== null && { body: walk(json) }),
  }
}
