import { createHash, hkdfSync, randomInt } from 'node:crypto'
import type { Challenge, Payload } from 'altcha-lib'
import { z } from 'zod'

export interface ChallengeOptions {
  /**
   * Marks a challenge as used, by the hash of its signature (`platform/sql/spent.ts`): false when it was used before.
   */
  spend(hash: Uint8Array, expiresAt: Date): Promise<boolean>
  /** Secret that signs challenges; every process of the service has the same. */
  readonly secret: string
  /** Difficulty of a challenge: the solver tries numbers up to one between these. */
  readonly counter: { readonly from: number; readonly to: number }
  /** Time in ms within which a challenge must be solved. @default 5 minutes */
  readonly livesMs?: number
}

/**
 * Proof of work for callers without credentials, by the protocol of ALTCHA (version 2), whose widget solves it in a
 * browser.
 */
export interface Challenges {
  /** Returns a new challenge in the form to be sent: `{ parameters, signature }`. */
  create(now: Date): Promise<Challenge>
  /**
   * Returns whether a solution is valid: it solves an unexpired challenge of this service that was not used before. A
   * solution is accepted once.
   * @param solution base64 of the JSON `{ challenge, solution }`, as the widget sends it
   */
  accept(solution: unknown, now: Date): Promise<boolean>
}

/** Cost of each attempt of a solver, and length of the keys. */
const [cost, keyLength] = [1_000, 32]

/** Maximum characters of a solution: those of the widget have about 900. */
const maxCharacters = 4_096

const count = z.int().nonnegative()
const text = z.string().max(200)
const payload = z.strictObject({
  challenge: z.strictObject({
    parameters: z.strictObject({
      algorithm: z.literal('PBKDF2/SHA-256'),
      nonce: text,
      salt: text,
      cost: z.literal(cost),
      keyLength: z.literal(keyLength),
      keyPrefix: text,
      keySignature: text,
      expiresAt: count,
    }),
    signature: text,
  }),
  solution: z.object({ counter: count, derivedKey: text }),
})

export function createChallenges({ spend, secret, counter, livesMs = 300_000 }: ChallengeOptions): Challenges {
  const derived = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)).toString('hex')
  const secrets = { hmacSignatureSecret: derived('challenges'), hmacKeySignatureSecret: derived('keys of challenges') }
  return {
    async create(now) {
      const { createChallenge, deriveKey } = await loadAltcha()
      const expiresAt = Math.floor((now.getTime() + livesMs) / 1_000)
      const tries = { counter: randomInt(counter.from, counter.to + 1), cost, keyLength }
      return createChallenge({ ...secrets, ...tries, algorithm: 'PBKDF2/SHA-256', deriveKey, expiresAt })
    },

    async accept(given, now) {
      const read = readPayload(given)
      // Uses our clock: the library knows only the system clock.
      if (!read || read.challenge.parameters.expiresAt * 1_000 <= now.getTime()) return false
      const { verifySolution, deriveKey } = await loadAltcha()
      const { verified } = await verifySolution({ ...secrets, ...(read as Payload), deriveKey })
      if (!verified) return false
      const hash = createHash('sha256').update(read.challenge.signature.toLowerCase()).digest()
      return spend(hash, new Date(read.challenge.parameters.expiresAt * 1_000))
    },
  }
}

async function loadAltcha() {
  const [{ createChallenge, verifySolution }, { deriveKey }] = await Promise.all([import('altcha-lib'), import('altcha-lib/algorithms/pbkdf2')])
  return { createChallenge, verifySolution, deriveKey }
}

function readPayload(given: unknown): z.infer<typeof payload> | null {
  if (typeof given !== 'string' || given.length > maxCharacters) return null
  try {
    return payload.safeParse(JSON.parse(Buffer.from(given, 'base64').toString('utf8'))).data ?? null
  } catch {
    return null
  }
}
