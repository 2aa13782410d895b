import { createHash, hkdfSync, randomInt } from 'node:crypto'
import type { Challenge, Payload } from 'altcha-lib'
import { z } from 'zod'

export interface ChallengeOptions {
  /** Uses a challenge up, by the hash of its signature (`platform/sql/spent.ts`): false when it was solved before. */
  spend(hash: Uint8Array, expiresAt: Date): Promise<boolean>
  /** What challenges are signed with; every process of the service has the same. */
  readonly secret: string
  /** How much work a challenge takes: the solver tries numbers up to one between these. */
  readonly counter: { readonly from: number; readonly to: number }
  /** For how long a challenge may be solved, in ms. @default 5 minutes */
  readonly livesMs?: number
}

/** Proof of work for callers who have no credentials, by the protocol of ALTCHA (version 2), which its widget solves in a browser. */
export interface Challenges {
  /** Returns a fresh challenge, as it is sent: `{ parameters, signature }`. */
  create(now: Date): Promise<Challenge>
  /**
   * Returns whether a solution counts: it solves a challenge of this service that is not over and was not solved before. It counts once.
   * @param solution base64 of the JSON `{ challenge, solution }`, as the widget sends it
   */
  accept(solution: unknown, now: Date): Promise<boolean>
}

/** How hard each try of a solver is, and how long the keys are. */
const [cost, keyLength] = [1_000, 32]

/** Characters of a solution at most: those of the widget have about 900. */
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
