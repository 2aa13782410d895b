import { randomBytes } from 'node:crypto'
import { spoilt } from '../faults.ts'
import type { Call, Network, Reply, Vendor } from '../network.ts'
import { json, textOf } from '../network.ts'

type Provider = 'turnstile' | 'hcaptcha'

/** A token that a visitor's browser got for a solved challenge. */
interface Token {
  readonly provider: Provider
  readonly hostname: string
  readonly at: number
  readonly spent: boolean
}

/** How long a token counts, in ms. */
const livesMs: Readonly<Record<Provider, number>> = { turnstile: 300_000, hcaptcha: 120_000 }

/** Secrets that both providers publish for tests, and what they answer for any token. */
const published: Readonly<Record<Provider, Readonly<Record<string, object>>>> = {
  turnstile: {
    '1x0000000000000000000000000000000AA': { success: true, hostname: 'example.com', metadata: { result_with_testing_key: true } },
    '2x0000000000000000000000000000000AA': { success: false, 'error-codes': ['invalid-input-response'] },
    '3x0000000000000000000000000000000AA': { success: false, 'error-codes': ['timeout-or-duplicate'] },
  },
  hcaptcha: { '0x0000000000000000000000000000000000000000': { success: true, hostname: 'dummy-key-pass' } },
}
/** The one token that these secrets of hCaptcha take. */
const dummyOfHcaptcha = '10000000-aaaa-bbbb-cccc-000000000001'

/** Beginning of a secret of the sandbox's own, under which tokens are looked at one by one. */
const ownSecret = '0xSANDBOX'

const paths: Readonly<Record<string, Provider>> = { '/turnstile/v0/siteverify': 'turnstile', '/hcaptcha/siteverify': 'hcaptcha' }

/**
 * Stand-in for two services that tell people from programs:
 * https://developers.cloudflare.com/turnstile/get-started/server-side-validation/ and
 * https://docs.hcaptcha.com/#verify-the-user-response-server-side
 */
export const challenge: Vendor = {
  title: 'Turnstile and hCaptcha',
  play(name, { state, faults, clock }): Network {
    const tokens = state.collection<Token>(`${name}.tokens`, 2_000)
    const received = state.collection<object>(`${name}.received`, 2_000)

    /** Looks at a token under a secret of the sandbox's own, and uses it up. */
    function judge(provider: Provider, response: string): object {
      const token = tokens.get(response)
      if (token?.provider !== provider) return refusal('invalid-input-response')
      const isOver = clock.now().getTime() - token.at > livesMs[provider]
      if (provider === 'turnstile' && (token.spent || isOver)) return refusal('timeout-or-duplicate')
      if (isOver) return refusal('expired-input-response')
      if (token.spent) return refusal('already-seen-response')
      tokens.set(response, { ...token, spent: true })
      return { success: true, challenge_ts: new Date(token.at).toISOString(), hostname: token.hostname, 'error-codes': [] }
    }

    function verify(provider: Provider, { secret = '', response = '' }: Readonly<Record<string, string>>): object {
      if (secret === '') return refusal('missing-input-secret')
      if (response === '') return refusal('missing-input-response')
      const test = published[provider][secret]
      if (test && provider === 'hcaptcha' && response !== dummyOfHcaptcha) return refusal('not-using-dummy-passcode')
      if (test) return { challenge_ts: clock.now().toISOString(), 'error-codes': [], ...test }
      return secret.startsWith(ownSecret) ? judge(provider, response) : refusal('invalid-input-secret')
    }

    return {
      name,
      received: () => [...received.values()],
      controls: {
        tokens({ provider = 'turnstile', hostname = 'localhost', ageSeconds = 0 }) {
          if (provider !== 'turnstile' && provider !== 'hcaptcha') return 'provider has to be turnstile or hcaptcha.'
          if (typeof hostname !== 'string' || typeof ageSeconds !== 'number') return 'hostname is a text, and ageSeconds a number.'
          const token = randomBytes(24).toString('base64url')
          tokens.set(token, { provider, hostname, at: clock.now().getTime() - ageSeconds * 1_000, spent: false })
          return { token }
        },
      },
      answer(call) {
        const provider = Object.hasOwn(paths, call.path) ? paths[call.path]! : null
        if (!provider || call.method !== 'POST') return { ...json(404, { error: 'Not found.' }, 'refused'), reason: 'Not found.' }
        const fields = fieldsOf(call, provider)
        if (!fields) return json(200, refusal('bad-request'), 'refused')
        return spoilt(faults, name, {
          refuse: ({ status }): Reply => json(status, { success: false, 'error-codes': ['internal-error'] }, 'refused'),
          take() {
            const answer = verify(provider, fields)
            received.set(randomBytes(8).toString('hex'), { receivedAt: clock.now().toISOString(), provider, token: fields.response ?? null, ...answer })
            return json(200, answer, 'accepted')
          },
        })
      },
    }
  },
}

const refusal = (code: string): object => ({ success: false, 'error-codes': [code] })

/** Reads the fields of a call: a form, at Turnstile JSON too; null for anything else. */
function fieldsOf(call: Call, provider: Provider): Readonly<Record<string, string>> | null {
  const type = call.headers['content-type'] ?? ''
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return Object.fromEntries(new URLSearchParams(textOf(call)))
  if (provider !== 'turnstile' || !/^application\/json\b/i.test(type)) return null
  try {
    const body: unknown = JSON.parse(textOf(call))
    return typeof body === 'object' && body !== null ? (body as Readonly<Record<string, string>>) : null
  } catch {
    return null
  }
}
