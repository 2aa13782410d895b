export type Family = 'AI' | 'EMAIL' | 'PAYMENTS' | 'VIDEO' | 'NETWORK'

/** A provider with the fields of its credentials: exactly one is a secret. */
export interface Provider {
  readonly title: string
  readonly family: Family
  /** Fields visible to everyone who may read the credential. */
  readonly plain: readonly string[]
  readonly secret: string
  /** Whether each credential has an address of its own; others use the provider's. */
  readonly isAnywhere?: true
}

const model = (title: string) => ({ title, family: 'AI', plain: [], secret: 'apiKey' }) as const satisfies Provider
const network = (title: string): Provider => ({ title, family: 'NETWORK', plain: ['clientId'], secret: 'clientSecret' })

/** Every provider by its name. */
export const catalogue = {
  openai: model('OpenAI'),
  anthropic: model('Anthropic'),
  google: model('Google AI'),
  custom: { ...model('Custom'), isAnywhere: true },
  stripe: { title: 'Stripe', family: 'PAYMENTS', plain: [], secret: 'secretKey' },
  smtp: { title: 'SMTP', family: 'EMAIL', plain: ['host', 'port', 'user'], secret: 'password' },
  x: network('X'),
  linkedin: network('LinkedIn'),
  linkedin_page: network('LinkedIn pages'),
  facebook: network('Facebook'),
  instagram: network('Instagram'),
  threads: network('Threads'),
  youtube: network('YouTube'),
  tiktok: network('TikTok'),
} as const satisfies Readonly<Record<string, Provider>>

export type ProviderName = keyof typeof catalogue

type ModelProviders = { [Name in ProviderName]: (typeof catalogue)[Name] extends { readonly family: 'AI' } ? Name : never }[ProviderName]

/** Model providers with an address of their own: tables by these have an entry for each. */
export type ModelVendor = Exclude<ModelProviders, 'custom'>

export const isModelVendor = (name: string): name is ModelVendor => isProvider(name) && catalogue[name].family === 'AI' && name !== 'custom'

export const providerNames = Object.keys(catalogue) as ProviderName[]

export const isProvider = (name: string): name is ProviderName => Object.hasOwn(catalogue, name)

/** Returns a provider. @param name as in a stored credential */
export const providerOf = (name: string): Provider => catalogue[name as ProviderName]
