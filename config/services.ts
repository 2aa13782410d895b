import { type Slug, slugs } from '../subgraphs/scopes.ts'
import { atLeast, tokenList } from './readers.ts'
import { type Setting, setting, type Variables } from './setting.ts'

/** The one whose name says no app. */
export const gatewayToken = 'PROVIDERS_SERVICE_TOKEN'

/** With what services show at the router which app they are, beside those of `APP_SERVICE_TOKENS`. */
export const serviceTokens = {
  primary: setting(gatewayToken, atLeast(32), {
    fallback: null,
    by: ['all', 'router'],
    does: 'Token, at least 32 characters, with which every registered app and active gateway client may call the provider gateway only.',
  }),
  trusted: setting('TRUSTED_SERVICE_TOKENS', tokenList, {
    fallback: [],
    by: ['all', 'router'],
    does: 'Further such tokens, comma-separated, for rotation.',
  }),
}

/** The same for each app and service. */
export const eachService = {
  dedicated: setting('<APP>_<SERVICE>_SERVICE_TOKEN', tokenList, {
    fallback: [],
    by: ['all', 'router', 'subgraph'],
    does: 'Tokens of one app at one service, comma-separated, at least 32 characters each: `SUPPORT_PROVIDERS_SERVICE_TOKEN` is for `app_support` at providers. A subgraph of its own calls with its first.',
  }),
}

/** A token of one app at one service. */
export interface DedicatedToken {
  readonly appId: string
  readonly at: Slug
  readonly token: string
}

const dedicatedName = new RegExp(`^([A-Z][A-Z\\d]*(?:_[A-Z\\d]+)*)_(${slugs.map(slug => slug.toUpperCase()).join('|')})_SERVICE_TOKEN$`)

/** Whether a variable holds such tokens. */
export const isServiceToken = (name: string): boolean => name === serviceTokens.primary.name || name === serviceTokens.trusted.name || dedicatedName.test(name)

/** Reads the tokens of single apps at single services; mistakes go into the list, a line each. */
export function readDedicated(given: Variables, mistakes: string[]): readonly DedicatedToken[] {
  const { reads }: Setting<readonly string[]> = eachService.dedicated
  return Object.entries(given).flatMap(([name, text]) => {
    const [, app, service] = dedicatedName.exec(name) ?? []
    if (!app || !service || text === undefined) return []
    const read = reads.safeParse(text)
    if (!read.success) mistakes.push(...read.error.issues.map(({ message }) => `${name}: ${message}`))
    const at = service.toLowerCase() as Slug
    return (read.data ?? []).map(token => ({ appId: `app_${app.toLowerCase()}`, at, token }))
  })
}
