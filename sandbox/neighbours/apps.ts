import { generateKeyPairSync, randomUUID, sign, type webcrypto } from 'node:crypto'
import type { Call, Control, Network, Reply, Vendor } from '../network.ts'
import { json } from '../network.ts'
import { storeApps } from './store-apps.ts'
import { openViewerTokens, type ViewerClaims } from './viewer-token.ts'

type JsonWebKey = webcrypto.JsonWebKey & { readonly kid?: string }

/** A reading of a widget: the claims that the app received, and the names of the request's headers. */
export interface ReceivedRead {
  readonly receivedAt: string
  readonly app: string
  readonly audience: string
  readonly subject: string | null
  readonly organizationId: string | null
  readonly context: string
  readonly role: string | null
  readonly headerNames: readonly string[]
}

const largeBytes = 5 * 1024 * 1024
const slugs = storeApps.filter(({ audience }) => audience !== null).map(({ slug }) => slug)
const refuse = (status: number, error: string): Reply => ({ ...json(status, { error }, 'refused'), reason: error })

/** Stand-in for the apps of third parties: each shows a widget to whom a token of the launcher names, and says when it changed. */
export const apps: Vendor = {
  title: 'third-party apps',
  play(name, { state, faults, clock, origin, endpoints }): Network {
    const received = state.collection<ReceivedRead>(`${name}.received`, 5_000)
    const payloads = state.collection<object>(`${name}.payloads`, 100)
    const keys = state.collection<JsonWebKey>(`${name}.keys`, 100)
    /** Where the launcher takes messages of apps, and publishes its keys; null: no signature is checked. */
    const { url: launcher } = endpoints.apps
    const claimsOf = openViewerTokens(launcher, clock)

    /** The private key of an app, made at its first use. */
    function keyOf(app: string): JsonWebKey & { kid: string } {
      const present = keys.get(app)
      if (present) return { ...present, kid: app }
      const made = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
      keys.set(app, made)
      return { ...made, kid: app }
    }

    const shown = (app: string, { sub, org }: ViewerClaims): object =>
      payloads.get(app) ?? {
        statistics: [{ key: 'open', label: 'Open', value: 3 }],
        items: [{ id: 'whoami', title: sub ?? org ?? 'nobody' }],
        nextAction: null,
      }

    async function widget(app: string, call: Call): Promise<Reply> {
      const claims = await claimsOf(call)
      if (!claims) return refuse(401, 'The token is missing, forged or expired.')
      const fault = faults.take(name, ['status', 'slow', 'hang', 'large', 'malformed', 'wrong-shape', 'wrong-type', 'redirect'], undefined, call.path)
      const spoilt = fault && { outcome: 'faulted' as const, fault: fault.fault }
      const good = json(200, shown(app, claims), 'accepted')
      switch (fault?.fault) {
        case 'status':
          return { ...refuse(fault.status!, 'The sandbox was told to refuse this.'), ...spoilt }
        case 'hang':
          return { ...good, ...spoilt, delivery: 'hold' }
        case 'large':
          return { ...json(200, { items: [{ id: 'large', title: 'x' }], filling: 'x'.repeat(largeBytes) }, 'read'), ...spoilt }
        case 'malformed':
          return { ...good, ...spoilt, body: '{"statistics": [{"key": "cut off in the mid' }
        case 'wrong-shape':
          return { ...json(200, { statistics: 'three' }, 'read'), ...spoilt }
        case 'wrong-type':
          return { ...good, ...spoilt, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<!doctype html><title>Welcome</title>' }
        case 'redirect':
          return { status: 302, headers: { location: 'http://169.254.169.254/latest/meta-data/' }, body: '', outcome: 'faulted', fault: 'redirect' }
        default: {
          const { aud: audience, sub: subject = null, org: organizationId = null, context, role = null } = claims
          const told = { app, audience, subject, organizationId, context, role, headerNames: Object.keys(call.headers).sort() }
          received.set(randomUUID(), { receivedAt: clock.now().toISOString(), ...told })
          return fault ? { ...good, fault: fault.fault, delayMs: fault.delayMs! } : good
        }
      }
    }

    /** Tells the launcher that a widget changed, with a token of the app's own. */
    const emit: Control = async ({ event, app, organizationId, userId, signature = 'good' }) => {
      if (event !== 'widget-changed') return 'event is widget-changed.'
      if (typeof app !== 'string' || !slugs.includes(app)) return `app is one of ${slugs.join(', ')}.`
      if (launcher === null) return 'Nobody takes messages of apps: start the sandbox with the endpoint apps.'
      const seconds = Math.floor(clock.now().getTime() / 1_000)
      const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
      const claims = { iss: app, aud: new URL(launcher).origin, iat: seconds, exp: seconds + 60, jti: randomUUID() }
      const text = `${encode({ alg: 'EdDSA', kid: app, typ: 'JWT' })}.${encode(claims)}`
      const key = signature === 'good' ? keyOf(app) : generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
      state.commit()
      const signed = sign(null, Buffer.from(text), { key, format: 'jwk' }).toString('base64url')
      const answer = await fetch(`${launcher}/changed`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${text}.${signed}` },
        body: JSON.stringify({ organizationId, userId }),
        signal: AbortSignal.timeout(10_000),
      })
      await answer.arrayBuffer()
      return { status: answer.status }
    }

    return {
      name,
      received: () => [...received.values()],
      controls: {
        emit,
        objects({ app, payload }) {
          if (typeof app !== 'string' || !slugs.includes(app)) return `app is one of ${slugs.join(', ')}.`
          if (payload === null) payloads.delete(app)
          else if (typeof payload === 'object') payloads.set(app, payload)
          else return 'payload is an object, or null for the usual one.'
          state.commit()
          return { app }
        },
      },
      async answer(call) {
        const [, app = '', rest] = /^\/([\w-]+)(\/.*)$/.exec(call.path) ?? []
        if (call.method !== 'GET' || !slugs.includes(app)) return refuse(404, 'There is no such app.')
        if (rest === '/api/widget') return { ...(await widget(app, call)), app }
        if (rest === '/.well-known/jwks.json') {
          const { d: _, ...key } = keyOf(app)
          return json(200, { keys: [{ ...key, alg: 'EdDSA', use: 'sig' }] }, 'read')
        }
        if (rest === '/' || rest === '/login')
          return {
            status: 200,
            headers: { 'content-type': 'text/html; charset=utf-8' },
            body: `<!doctype html><title>${app}</title><h1>${app}</h1><p>${origin()}</p>`,
            outcome: 'read',
          }
        return refuse(404, 'Not found.')
      },
    }
  },
}
