/** Where third parties are, without a trailing slash: as configured, of the sandbox in the demo, or where they really are. */
export interface Addresses {
  /** Base of OpenAI's wire, `/v1` included. */
  readonly openai: string
  /** Without `/v1`. */
  readonly anthropic: string
  /** Google's base that speaks OpenAI's wire. */
  readonly google: string
  /** `/v1` included. */
  readonly stripe: string
  /** What `youtube/v3/…` and `upload/youtube/v3/…` stand under. */
  readonly youtube: string
  /** What `api.json` stands under. */
  readonly modelsDev: string
  /** The hosting platform's gateway between us and vendors of models; null: there is none. */
  readonly aiGateway: { readonly url: string; readonly token: string | null } | null
  /** Who issues the tokens of the site-builder studio; null: nobody. */
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

/** Where each is played, under the sandbox's origin. */
const played = {
  openai: '/openai/v1',
  anthropic: '/anthropic',
  stripe: '/stripe/v1',
  youtube: '/youtube',
  modelsDev: '/models-dev',
  studio: '/studio',
} as const

/** What is configured of them; null: not said. */
export type ConfiguredAddresses = Readonly<Record<keyof typeof real | 'aiGatewayUrl' | 'aiGatewayToken' | 'studio', string | null>>

/** @param sandbox its origin; null: there is none */
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

/** Origins that are called although they may lie on a private address: the operator chose them. */
export const chosenOrigins = ({ aiGatewayToken, ...addresses }: ConfiguredAddresses): readonly string[] =>
  Object.values(addresses).flatMap(address => (address === null ? [] : [new URL(address).origin]))
