import type { Requirement } from '../access/rules.ts'

/** One way to be authorized: all of its schemes are needed, each with its scopes and policies. */
export type Way = Readonly<Record<string, readonly string[]>>

/** Credentials of callers, as `components.securitySchemes`. */
export const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The `accessToken` that `POST /identity/api/auth/sign-in/email` answers. It holds for ten minutes; `GET /identity/api/auth/token` gives the next one.',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'identity.session_token',
    description:
      'The session of a signed-in person, which browsers send by themselves (with the prefix `__Secure-` over TLS). It counts on web hosts, and for changes only with an `Origin` that the platform trusts.',
  },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'A key of an organization, with the scopes that it was made with. No key opens what asks for a person.',
  },
  serviceToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Token',
    description:
      'A registered service’s token, together with `X-App-Id`; `X-Organization-Id` and `X-On-Behalf-Of` say for whom it asks, `X-For-User` whose work it is.',
  },
  appId: { type: 'apiKey', in: 'header', name: 'X-App-Id', description: 'Which service asks, such as `app_launcher`; together with `X-Service-Token`.' },
} as const

const ofPeople = ['bearer', 'cookie'] as const

/**
 * Returns an operation's `security`: any one of the ways suffices. A role name beside a scheme is a requirement on the
 * caller: scopes as `service:scope`, policies by their name (OpenAPI 3.1 allows role names for every scheme).
 */
export function securityOf(requirements: readonly Requirement[]): readonly Way[] {
  if (requirements.length === 0) return [{}, ...waysOf([])]
  const alternatives = requirements.reduce<readonly (readonly string[])[]>(
    (ways, requirement) => {
      const any =
        requirement.kind === 'authenticated' ? [[]] : requirement.any.map(all => all.map(name => (requirement.kind === 'policies' ? policy(name) : name)))
      return ways.flatMap(way => any.map(all => [...new Set([...way, ...all])].sort()))
    },
    [[]],
  )
  // An alternative that requires more than another one is left out.
  const least = alternatives.filter(way => !alternatives.some(other => other.length < way.length && other.every(name => way.includes(name))))
  const ways = least.flatMap(waysOf)
  return [...new Map(ways.map(way => [JSON.stringify(way), way])).values()]
}

const policy = (name: string): string => `policy:${name}`

function waysOf(names: readonly string[]): readonly Way[] {
  const policies = names.filter(name => name.startsWith('policy:')).map(name => name.slice('policy:'.length))
  const people = ofPeople.map(scheme => ({ [scheme]: names }))
  const services = [{ serviceToken: names, appId: [] }]
  if (policies.includes('service')) return services
  return policies.length > 0 ? people : [...people, { apiKey: names }, ...services]
}

/** The security of a row that never reads credentials. */
export const nobody: readonly Way[] = []
