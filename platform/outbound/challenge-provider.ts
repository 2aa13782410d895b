import { createHash } from 'node:crypto'
import { z } from 'zod'
import { DomainError } from '../errors.ts'
import type { Outbound } from './outbound.ts'

/** Services that tell people from programs: a browser gets a token of them, which we have verified. */
export type ChallengeProvider = 'turnstile' | 'hcaptcha'

export interface ProviderOptions {
  readonly provider: ChallengeProvider
  /** Secret key of the site at the provider. */
  readonly secret: string
  /** Where tokens are verified. @default the provider's own address */
  readonly verifyUrl?: string | null
  readonly outbound: Outbound
  /** Marks a token as used, by its hash (`platform/sql/spent.ts`): false when it was used before. */
  spend(hash: Uint8Array, expiresAt: Date): Promise<boolean>
  /** Whether a token may come from a page of this host name. */
  isOwnPage(hostname: string): boolean
  /** Reports what the operator has to mend, such as a wrong secret. */
  report(problem: string): void
}

/** Verifies tokens of a provider. */
export interface ProviderChallenges {
  /**
   * Returns whether a token is valid: the provider gave it to a page of ours, and it was not used before.
   * @throws UPSTREAM_FAILED while the provider does not answer; RATE_LIMITED for more at once than are verified
   */
  accept(token: unknown, now: Date): Promise<boolean>
}

const ownUrls: Readonly<Record<ChallengeProvider, string>> = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
}

/** Secrets that providers publish for tests: their tokens are the same for everybody, and name no page. */
const testSecrets = new Set([...['1', '2', '3'].map(first => `${first}x0000000000000000000000000000000AA`), `0x${'0'.repeat(40)}`])

/** Maximum characters of a token: Turnstile's have at most 2,048, hCaptcha's about 5,000. */
const maxCharacters = 8_192
/** Time limit of one verification, in ms. It is sent once: a second one would find the token used. */
const verifyMs = 5_000
/** Maximum verifications at once in a process: a provider that hangs holds no more callers. */
const maxAtOnce = 64
/** How long a used token is remembered, in ms: longer than providers take it. */
const rememberedMs = 600_000

/** Answers that say that the platform is set up wrongly or the provider is: not the visitor's mistake. */
const notTheVisitors = new Set(['missing-input-secret', 'invalid-input-secret', 'sitekey-secret-mismatch', 'internal-error', 'bad-request'])

const verdict = z.object({ success: z.boolean(), hostname: z.string().nullish(), 'error-codes': z.array(z.string()).nullish() })

const away = (): DomainError => new DomainError('UPSTREAM_FAILED', 'The challenge could not be verified: try again in a moment.')

/** Opens the verification of tokens. It fails closed: without a verdict of the provider nobody is let in. */
export function openProvider({ provider, secret, verifyUrl, outbound, spend, isOwnPage, report }: ProviderOptions): ProviderChallenges {
  const isTest = testSecrets.has(secret)
  let underWay = 0

  async function ask(token: string): Promise<z.infer<typeof verdict>> {
    if (underWay >= maxAtOnce) throw new DomainError('RATE_LIMITED', 'Too many challenges are verified at once: try again in a moment.', { retryAfter: 1 })
    underWay += 1
    try {
      const body = new URLSearchParams({ secret, response: token }).toString()
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const { status, text } = await outbound(verifyUrl ?? ownUrls[provider], { method: 'POST', headers, body, timeoutMs: verifyMs })
      const read = verdict.safeParse(JSON.parse(text))
      if (status !== 200 || !read.success) throw away()
      return read.data
    } catch {
      throw away()
    } finally {
      underWay -= 1
    }
  }

  return {
    async accept(token, now) {
      if (typeof token !== 'string' || token === '' || token.length > maxCharacters) return false
      const { success, hostname, 'error-codes': codes } = await ask(token)
      const problem = codes?.find(code => notTheVisitors.has(code))
      if (!success && problem !== undefined) {
        report(problem)
        throw away()
      }
      if (!success) return false
      if (isTest) return true
      if (!hostname || !isOwnPage(hostname.toLowerCase())) return false
      return spend(createHash('sha256').update(`${provider} ${token}`).digest(), new Date(now.getTime() + rememberedMs))
    },
  }
}
