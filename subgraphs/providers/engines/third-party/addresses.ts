/**
 * Addresses of third parties, without a trailing slash: configured ones, the sandbox's in the demo, or the real ones.
 */
export interface Addresses {
  /** Base of OpenAI's API, `/v1` included. */
  readonly openai: string
  /** Base of Anthropic's API, without `/v1`. */
  readonly anthropic: string
  /** Base of Google's API in OpenAI's protocol. */
  readonly google: string
  /** Base of Stripe's API, `/v1` included. */
  readonly stripe: string
  /** Base of `youtube/v3/…` and `upload/youtube/v3/…`. */
  readonly youtube: string
  /** Base of `api.json`. */
  readonly modelsDev: string
  /** The hosting platform's model gateway; null for none. */
  readonly aiGateway: { readonly url: string; readonly token: string | null } | null
  /** Issuer of the site-builder studio's tokens; null for none. */
  readonly studio: string | null
}

const real = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  google: 'https://generativelanguage.googleapis.com/v1beta/openai',
  stripe: 'https://api.stripe.com/v1',
  youtube: 'https://www.googleapis.com',
  modelsDev: 'https://models.dev',
} as const

/** Paths under the sandbox's origin. */
const played = {
  openai: '/openai/v1',
  anthropic: '/anthropic',
  stripe: '/stripe/v1',
  youtube: '/youtube',
  modelsDev: '/models-dev',
  studio: '/studio',
} as const

/** Configured addresses; null for the default. */
export type ConfiguredAddresses = Readonly<Record<keyof typeof real | 'aiGatewayUrl' | 'aiGatewayToken' | 'studio', string | null>>

/** @param sandbox its origin; null for none */
export function addressesFrom({ aiGatewayUrl, aiGatewayToken, ...given }: ConfiguredAddresses, sandbox: string | null): Addresses {
  const inSandbox = (name: keyof typeof played): string | null => sandbox && sandbox + played[name]
  return {
    openai: given.openai ?? inSandbox('openai') ?? real.openai,
    anthropic: given.anthropic ?? inSandbox('anthropic') ?? real.anthropic,
    google: given.google ?? real.google,
    stripe: given.stripe ?? inSandbox('stripe') ?? real.stripe,
    youtube: given.youtube ?? inSandbox('youtube') ?? real.youtube,
    modelsDev: given.modelsDev ?? inSandbox('modelsDev') ?? real.modelsDev,
    aiGateway: aiGatewayUrl === null ? null : { url: aiGatewayUrl, token: aiGatewayToken },
    studio: given.studio ?? inSandbox('studio'),
  }
}

/** Returns configured origins, which may have a private address because the operator chose them. */
export const chosenOrigins = ({ aiGatewayToken, ...addresses }: ConfiguredAddresses): readonly string[] =>
  Object.values(addresses).flatMap(address => (address === null ? [] : [new URL(address).origin]))
