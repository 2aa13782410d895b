export type Family = 'AI' | 'EMAIL' | 'PAYMENTS' | 'VIDEO' | 'NETWORK'

/** What a provider is, and what it is called with: exactly one of its fields is a secret. */
export interface Provider {
  readonly title: string
  readonly family: Family
  /** Fields that everybody may read who may read the credential. */
  readonly plain: readonly string[]
  readonly secret: string
  /** Whether each credential says where it is called; a credential of the others is for the provider's own address. */
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

/** Providers of models that are called at an address of theirs: a table by these has a place for each. */
export type ModelVendor = Exclude<ModelProviders, 'custom'>

export const isModelVendor = (name: string): name is ModelVendor => isProvider(name) && catalogue[name].family === 'AI' && name !== 'custom'

export const providerNames = Object.keys(catalogue) as ProviderName[]

export const isProvider = (name: string): name is ProviderName => Object.hasOwn(catalogue, name)

/** What is known of a provider. @param name as a credential that is kept has it */
export const providerOf = (name: string): Provider => catalogue[name as ProviderName]
