import { createPublicKey, verify } from 'node:crypto'
import { spoilt } from '../faults.ts'
import type { Call, Deps, Network, Reply, Vendor } from '../network.ts'
import { json } from '../network.ts'

/** An accepted push message as it was received: its body is encrypted for the browser. */
interface ReceivedPush {
  /** Time of receipt, ISO 8601, UTC, milliseconds. */
  readonly receivedAt: string
  /** The last part of the endpoint's path. */
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  /** Body in base64. */
  readonly body: string
}

/**
 * Size limit of a message, in bytes: push services accept at least this much (RFC 8030, section 7.2), and this stand-in
 * no more: one record of 4096 bytes.
 */
const maxBytes = 4096
/**
 * Size of the header of a message with `aes128gcm` (RFC 8188, section 2.1): salt, record size, length of the key, the
 * sender's key.
 */
const headerBytes = 16 + 4 + 1 + 65
const tagBytes = 16
const maxClaimSeconds = 24 * 3600
const urgencies = ['very-low', 'low', 'normal', 'high']

/** A push service (RFC 8030): `POST /push/<id>` is the endpoint of a browser, which wants a message encrypted (RFC 8291) and signed (RFC 8292). */
export const push: Vendor = {
  title: 'a push service',
  play(name, deps): Network {
    const { state, faults, clock } = deps
    const received = state.collection<ReceivedPush>(name, 500)
    const counter = state.collection<number>(`${name}.meta`, 1)
    return {
      name,
      received: () => [...received.values()],
      answer(call) {
        const id = /^\/([\w.~-]{1,200})$/.exec(call.path)?.[1]
        if (id === undefined || call.method !== 'POST') return refuse(404, 'There is no such subscription.')
        const wrong = wrongWith(call, deps)
        if (wrong) return wrong
        if (faults.take(name, ['gone'])) return { ...refuse(410, 'The subscription has ended.'), outcome: 'faulted', fault: 'gone' }
        return spoilt(faults, name, {
          refuse: ({ status }) => refuse(status, 'The sandbox was told to refuse this.'),
          take() {
            const number = (counter.get('number') ?? 0) + 1
            counter.set('number', number)
            const headers = Object.fromEntries(Object.entries(call.headers).map(([header, value]) => [header, String(value)]))
            received.set(String(number), { receivedAt: clock.now().toISOString(), id, headers, body: call.body.toString('base64') })
            const ttl = String(Math.min(Number(call.headers.ttl), 28 * 24 * 3600))
            return { status: 201, headers: { location: `${deps.origin()}/${name}/messages/${number}`, ttl }, body: '', outcome: 'accepted' }
          },
        })
      },
    }
  },
}

const refuse = (status: number, error: string): Reply => ({ ...json(status, { error }, 'refused'), reason: error })

function wrongWith(call: Call, deps: Deps): Reply | null {
  const { headers, body } = call
  if (!/^\d{1,10}$/.test(String(headers.ttl ?? ''))) return refuse(400, 'TTL is missing, or no number of seconds.')
  if (headers.urgency !== undefined && !urgencies.includes(String(headers.urgency))) return refuse(400, 'Urgency is unknown.')
  if (headers.topic !== undefined && !/^[\w-]{1,32}$/.test(String(headers.topic))) return refuse(400, 'Topic is no text of 32 base64url characters.')
  if (body.length > maxBytes) return refuse(413, 'The message is larger than 4096 bytes.')
  const claim = wrongClaim(String(headers.authorization ?? ''), deps)
  if (claim) return refuse(claim.status, claim.error)
  if (body.length === 0) return null
  if (headers['content-encoding'] !== 'aes128gcm') return refuse(400, 'Content-Encoding is not aes128gcm.')
  const isWhole = body.length > headerBytes + tagBytes && body[20] === 65 && body[21] === 4 && body.readUInt32BE(16) >= tagBytes + 2
  return isWhole ? null : refuse(400, 'The body is no message of RFC 8291.')
}

/** Checks the sender (RFC 8292): a token for this origin, valid for at most a day, signed with the accompanying key. */
function wrongClaim(authorization: string, { clock, origin }: Deps): { readonly status: number; readonly error: string } | null {
  const parameters = Object.fromEntries(
    (/^vapid\s+(.+)$/i.exec(authorization)?.[1] ?? '').split(',').map(part => {
      const [key = '', ...value] = part.trim().split('=')
      return [key, value.join('=').replaceAll('"', '')]
    }),
  )
  const { t, k } = parameters as { readonly t?: string; readonly k?: string }
  if (!t || !k) return { status: 401, error: 'The authorization is not vapid with t and k.' }
  const [head = '', payload = '', signature = ''] = t.split('.')
  const point = Buffer.from(k, 'base64url')
  if (point.length !== 65 || point[0] !== 4) return { status: 401, error: 'k is no point of P-256.' }
  try {
    const jwk = { kty: 'EC', crv: 'P-256', x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') }
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const isGenuine = verify('sha256', Buffer.from(`${head}.${payload}`), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))
    if (!isGenuine || jsonOf(head).alg !== 'ES256') return { status: 403, error: 'The token is not signed by k.' }
    const { aud, exp, sub } = jsonOf(payload)
    const now = clock.now().getTime() / 1000
    if (!URL.canParse(String(aud)) || !isHere(new URL(String(aud)), new URL(origin()))) return { status: 403, error: 'aud is another origin.' }
    if (typeof exp !== 'number' || exp <= now || exp > now + maxClaimSeconds) return { status: 403, error: 'exp has passed, or is more than a day away.' }
    return sub === undefined || /^(?:mailto:|https:)/.test(String(sub)) ? null : { status: 403, error: 'sub is no mailto: or https: address.' }
  } catch {
    return { status: 403, error: 'The token cannot be read.' }
  }
}

/** The sandbox listens on both loopback families, under any of their names. */
const isHere = (named: URL, here: URL): boolean =>
  named.protocol === here.protocol && named.port === here.port && ['localhost', '127.0.0.1', '[::1]', here.hostname].includes(named.hostname)

const jsonOf = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Readonly<Record<string, unknown>>
