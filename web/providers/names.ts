/** What providers are for, in the order of lists. */
export const families = ['AI', 'EMAIL', 'PAYMENTS', 'VIDEO', 'NETWORK'] as const

/** Providers by their own names, which are the same in every language, with the fields that each asks for; secrets come last. */
export const providersByName: Readonly<Record<string, { readonly title: string; readonly plain: readonly string[]; readonly secrets: readonly string[] }>> = {
  openai: { title: 'OpenAI', plain: [], secrets: ['apiKey'] },
  anthropic: { title: 'Anthropic', plain: [], secrets: ['apiKey'] },
  google: { title: 'Google AI', plain: [], secrets: ['apiKey'] },
  custom: { title: 'OpenAI-compatible', plain: [], secrets: ['apiKey'] },
  stripe: { title: 'Stripe', plain: [], secrets: ['secretKey'] },
  smtp: { title: 'SMTP', plain: ['host', 'port', 'user'], secrets: ['password'] },
  x: { title: 'X', plain: ['clientId'], secrets: ['clientSecret'] },
  linkedin: { title: 'LinkedIn', plain: ['clientId'], secrets: ['clientSecret'] },
  linkedin_page: { title: 'LinkedIn Page', plain: ['clientId'], secrets: ['clientSecret'] },
  facebook: { title: 'Facebook', plain: ['clientId'], secrets: ['clientSecret'] },
  instagram: { title: 'Instagram', plain: ['clientId'], secrets: ['clientSecret'] },
  threads: { title: 'Threads', plain: ['clientId'], secrets: ['clientSecret'] },
  youtube: { title: 'YouTube', plain: ['clientId'], secrets: ['clientSecret'] },
  tiktok: { title: 'TikTok', plain: ['clientId'], secrets: ['clientSecret'] },
}

/** What a provider is called. */
export const providerTitle = (name: string): string => providersByName[name]?.title ?? name
