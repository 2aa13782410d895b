import { describe, expect, test } from 'vitest'
import { hosts, localOrigins } from '../../config/hosts.ts'
import { missingBindings } from '../../config/production.ts'
import { readConfig } from '../../config.ts'
import { slugs } from '../../subgraphs/scopes.ts'

const key = `k1:${Buffer.alloc(32, 7).toString('base64')}`
const complete = { ENVIRONMENT: 'production', AUTH_SECRET: 'x'.repeat(32), ENCRYPTION_KEYS: key }

const corsLine =
  'CORS_ORIGINS: must be origins with commas between, each scheme://host or scheme://host:port without a path, such as https://app.example.com,http://localhost:5173'

describe('a mistake in the configuration is one line that names the variable and its valid values', () => {
  test.for([
    [{ PORT: 'abc' }, 'PORT: must be a port number from 0 to 65535'],
    [{ PORT: '70000' }, 'PORT: must be a port number from 0 to 65535'],
    [{ PORT: '0' }, 'PORT: 0 takes a free port, whose address nobody knows beforehand: set PUBLIC_URL too, or name a port'],
    [{ SANDBOX_PORT: '-1' }, 'SANDBOX_PORT: must be a port number from 0 to 65535'],
    [{ PLATFORM_CREDENTIALS_MICROS_PER_MONTH: '5 USD' }, 'PLATFORM_CREDENTIALS_MICROS_PER_MONTH: must be a whole number of micro-dollars, or unlimited'],
    [{ ENVIRONMENT: 'prod' }, 'ENVIRONMENT: must be one of development, staging, production'],
    [{ ROUTER_ENGINE: 'rust' }, 'ROUTER_ENGINE: must be one of native, apollo'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL: must be one of fatal, error, warn, info, debug, trace, silent'],
    [{ DEMO: 'yes' }, 'DEMO: must be one of 0, 1, true, false'],
    [{ TRUST_PROXY: 'all' }, 'TRUST_PROXY: must be 0, 1, or the addresses and networks of the proxies with commas between, such as 10.0.0.0/8,192.168.1.7'],
    [{ PUBLIC_URL: 'example.com' }, 'PUBLIC_URL: must be an address such as https://example.com'],
    [{ PUBLIC_URL: 'https://example.com/app' }, 'PUBLIC_URL: must be an origin without a path, such as https://example.com'],
    [{ CORS_ORIGINS: '*' }, corsLine],
    [{ CORS_ORIGINS: 'null' }, corsLine],
    [{ CORS_ORIGINS: 'app.example.com' }, corsLine],
    [{ CORS_ORIGINS: 'https://app.example.com/path' }, corsLine],
    [{ CORS_ORIGINS: 'https://a.example,' }, corsLine],
    [{ CORS_ORIGINS: 'https://user@a.example' }, corsLine],
    [{ CORS_ORIGINS: 'https://*.example.com' }, corsLine],
    [{ CORS_ORIGINS: 'https://a b' }, corsLine],
    [{ DATABASE_URL: 'mysql://localhost' }, 'DATABASE_URL: must be an address such as postgres://user:password@host:5432/database'],
    [{ AUTH_SECRET: 'short' }, 'AUTH_SECRET: must have at least 32 characters'],
    [
      { ENCRYPTION_KEYS: 'k1:c2hvcnQ=' },
      'ENCRYPTION_KEYS: must be a list of name:key pairs, each key 32 bytes in base64, such as k1:$(openssl rand -base64 32)',
    ],
    [
      { SEAL_PUBLIC_KEYS: 'k1:short' },
      'SEAL_PUBLIC_KEYS: must be a list of name:key pairs, each key 32 bytes in base64, such as k1:$(openssl rand -base64 32)',
    ],
    [{ SEAL_PRIVATE_KEY: `${key},${key}` }, 'SEAL_PRIVATE_KEY: must be one name:key pair: the router signs with one key'],
    [
      { NATS_URL: 'localhost:4222' },
      'NATS_URL: must be an address such as nats://user:password@host:4222, several servers with commas between, tls:// for TLS',
    ],
    [{ AUTH_ISSUER: 'https://login.example' }, 'AUTH_JWKS_URL: missing: AUTH_ISSUER and AUTH_JWKS_URL belong together, set both or neither'],
    [{ AUTH_JWKS_URL: 'https://login.example/jwks' }, 'AUTH_ISSUER: missing: AUTH_ISSUER and AUTH_JWKS_URL belong together, set both or neither'],
    [
      { SETTLEMENT_URL: 'https://settlement.example' },
      'SETTLEMENT_SIGNING_SECRETS: missing: SETTLEMENT_URL and SETTLEMENT_SIGNING_SECRETS belong together, set both or neither',
    ],
    [
      { SETTLEMENT_SIGNING_SECRETS: `whsec_${'A'.repeat(32)}` },
      'SETTLEMENT_URL: missing: SETTLEMENT_URL and SETTLEMENT_SIGNING_SECRETS belong together, set both or neither',
    ],
    [{ CONSENT_URL: 'consent.example' }, 'CONSENT_URL: must be an address such as https://example.com'],
    [{ CONSENT_PROJECT: 'a/b' }, 'CONSENT_PROJECT: must have 1 to 64 letters, digits, _ and -'],
    [{ NOTIFICATIONS_URL: 'notifications.example' }, 'NOTIFICATIONS_URL: must be an address such as https://example.com'],
    [
      { NOTIFICATIONS_SECRETS: 'whsec_short' },
      'NOTIFICATIONS_SECRETS: must be secrets with commas between, each whsec_ and at least 24 random bytes in base64',
    ],
    [{ VAPID_PRIVATE_KEY: 'A'.repeat(43) }, 'VAPID_PRIVATE_KEY: must be a private key of P-256: 32 bytes in base64url'],
    [{ VAPID_SUBJECT: 'ops@example.com' }, 'VAPID_SUBJECT: must be mailto:… or https://…'],
    [{ DEMO_TIME_ZONE: '+02:00' }, 'DEMO_TIME_ZONE: must be a name of the IANA database such as Europe/Berlin, or UTC'],
    [{ LEADS_MAIL_TO: 'sales' }, 'LEADS_MAIL_TO: must be a mail address such as sales@example.com'],
    [{ PRODUCTION_REGISTRY_URL: 'https://api.example/identity/api/services' }, 'PRODUCTION_REGISTRY_URL: only for staging: leave it out'],
    [{ EVENT_CARRIER: 'nats' }, 'EVENT_CARRIER: nats needs NATS_URL: set it, or leave both out'],
    [{ ROUTER_URL: 'router' }, 'ROUTER_URL: must be an address such as https://example.com, several with commas between'],
    [{ PROPAGATE_HEADERS: 'authorization,x tenant' }, 'PROPAGATE_HEADERS: must be names of headers with commas between, such as authorization,x-tenant'],
    [{ OVERRIDE_STICKY_HEADER: 'x user' }, 'OVERRIDE_STICKY_HEADER: must be the name of a header, such as x-user-id'],
    [{ OVERRIDE_HEADER: 'yes' }, 'OVERRIDE_HEADER: must be one of on, off'],
    [{ FETCH_TIMEOUT_MS: '0' }, 'FETCH_TIMEOUT_MS: must be a number of milliseconds'],
    [{ DEDUPLICATE: 'yes' }, 'DEDUPLICATE: must be one of 0, 1, true, false'],
    [{ X_CLIENT_ID: 'a' }, 'X_CLIENT_ID and X_CLIENT_SECRET: one is set without the other; set both or none'],
    [{ X_API_URL: 'api.x.com' }, 'X_API_URL: must be an address such as https://example.com'],
    [
      { ...complete, DEMO: '1' },
      'DEMO: production has no demo accounts, whose password everybody knows: leave it out, or try the demo with ENVIRONMENT=staging',
    ],
    [{ ...complete, CRASH_AT: 'after-call' }, 'CRASH_AT: only in development, for tests'],
    [{ ...complete, AUTH_SECRET: '' }, 'AUTH_SECRET: missing, and production generates none: set at least 32 random characters'],
    [{ ...complete, ENVIRONMENT: 'staging', ENCRYPTION_KEYS: '' }, 'ENCRYPTION_KEYS: missing, and staging generates none: set k1:<32 random bytes in base64>'],
  ] as const)('%o', ([environment, line]) => {
    expect(() => readConfig(environment)).toThrow(expect.objectContaining({ name: 'StartError', message: line }))
  })

  test('reports several mistakes at once', () => {
    expect(() => readConfig({ PORT: 'x', DEMO: 'x' })).toThrow(/^PORT: .*\nDEMO: .*$/)
  })
})

describe('a request may decide on override labels itself', () => {
  test.for([
    [{}, true],
    [{ OVERRIDE_HEADER: 'off' }, false],
    [complete, false],
    [{ ...complete, OVERRIDE_HEADER: 'on' }, true],
  ] as const)('with %o: %s', ([environment, isAllowed]) => {
    expect(readConfig(environment).overrides).toEqual({ salt: '', stickyHeader: null, file: null, header: isAllowed })
  })
})

test('origins are read as browsers write them', () => {
  expect(readConfig({ CORS_ORIGINS: 'https://App.example:443/, http://localhost:5173,capacitor://localhost' }).corsOrigins).toEqual([
    'https://app.example',
    'http://localhost:5173',
    'capacitor://localhost',
  ])
  expect(readConfig({}).corsOrigins).toEqual([])
})

describe('without configuration', () => {
  test('the platform listens on loopback, runs its own database, and has demo data', () => {
    expect(readConfig({})).toMatchObject({ host: 'localhost', port: 4000, publicUrl: 'http://localhost:4000', databaseUrl: null, demo: true, logLevel: 'warn' })
  })

  test.for([
    [{ HOST: '0.0.0.0' }, false],
    [{ HOST: '192.0.2.7' }, false],
    [{ HOST: '127.0.0.2' }, true],
    [{ HOST: '::1' }, true],
    [{ HOST: '0.0.0.0', DEMO: '1' }, true],
    [{ DEMO: '0' }, false],
    [{ HOST: '127.0.0.2', PUBLIC_URL: 'http://[::1]:4000' }, true],
    [{ PUBLIC_URL: 'http://supergraph.localhost:4000' }, true],
    [{ PUBLIC_URL: 'https://platform.example' }, false],
    [{ PUBLIC_URL: 'https://localhost.example' }, false],
    [{ PUBLIC_URL: 'https://platform.example', DEMO: '1' }, true],
    [complete, false],
    [{ ...complete, ENVIRONMENT: 'staging' }, false],
    [{ ...complete, ENVIRONMENT: 'staging', PUBLIC_URL: 'https://platform.example' }, false],
    [{ ...complete, ENVIRONMENT: 'staging', DEMO: '1' }, true],
  ] as const)('D11 %o has demo data: %s', ([environment, demo]) => {
    expect(readConfig(environment).demo).toBe(demo)
  })

  test('a public address is stored as an origin', () => {
    expect(readConfig({ PUBLIC_URL: 'https://Example.com:443/' }).publicUrl).toBe('https://example.com')
  })
})

describe('precedence of settings', () => {
  test('the command line overrides the environment, the environment the mode’s defaults', () => {
    const reading = { given: { PORT: '4100' }, defaults: { PORT: '4001', PUBLIC_URL: 'http://localhost:4000' } }
    expect(readConfig({ PORT: '4200' }, reading)).toMatchObject({ port: 4100, publicUrl: 'http://localhost:4000' })
    expect(readConfig({ PORT: '4200' }, { defaults: reading.defaults }).port).toBe(4200)
    expect(readConfig({}, { defaults: reading.defaults }).port).toBe(4001)
  })

  test.each<readonly [string, Record<string, string>, bigint | null]>([
    ['nothing is set in the demo', {}, null],
    ['nothing is set in production', complete, 5_000_000n],
    ['nothing is set without the demo', { DEMO: '0' }, 5_000_000n],
    ['0 is set', { ...complete, PLATFORM_CREDENTIALS_MICROS_PER_MONTH: '0' }, 0n],
    ['more than a number of JSON holds is set', { PLATFORM_CREDENTIALS_MICROS_PER_MONTH: '123456789012345' }, 123_456_789_012_345n],
    ['unlimited is set in production', { ...complete, PLATFORM_CREDENTIALS_MICROS_PER_MONTH: 'unlimited' }, null],
  ])('organizations may spend with credentials of the platform what is meant where %s', (_, environment, micros) => {
    expect(readConfig(environment).quotas.platformCredentialsMicros).toBe(micros)
  })

  test('a mode without secrets needs none in production', () => {
    expect(readConfig({ ENVIRONMENT: 'production' }, { secrets: false }).environment).toBe('production')
  })

  test('a subgraph’s address is that of <NAME>_URL', () => {
    const config = readConfig({ STOCK_ROOM_URL: 'http://stock.test/graphql/', BROKEN_URL: 'stock' })
    expect([config.subgraphUrls('stock-room'), config.subgraphUrls('catalogue')]).toEqual([['http://stock.test/graphql'], null])
    expect(() => config.subgraphUrls('broken')).toThrow('BROKEN_URL: must be an address such as https://example.com')
  })
})

describe('S-14 hosts of services', () => {
  const originsIn = (environment: Record<string, string>) => readConfig(environment).serviceOrigins.map(({ slug, role, origin }) => `${slug} ${role} ${origin}`)

  test('are names of this machine in development, and none elsewhere', () => {
    const local = originsIn({ PORT: '4100' })
    for (const line of [
      'identity web http://identity.localhost:4100',
      'identity api http://identity.localhost:4100',
      'publishing web http://web.publishing.localhost:4100',
      'launcher dashboard http://launcher.localhost:4100',
      'launcher marketing http://marketing.launcher.localhost:4100',
    ])
      expect(local).toContain(line)
    expect(originsIn({ ...complete, PUBLIC_URL: 'https://example.com' })).toEqual([])
    const pages = { launcher: ['launcher dashboard', 'launcher marketing'], publishing: ['publishing web', 'publishing web'] }
    expect(local.map(line => line.split(' ').slice(0, 2).join(' ')).sort()).toEqual(
      slugs.flatMap(slug => [`${slug} api`, ...(pages[slug as keyof typeof pages] ?? [`${slug} web`])]).sort(),
    )
    expect(localOrigins('http://localhost:4100')).toEqual(readConfig({ PORT: '4100' }).serviceOrigins)
    for (const { by } of Object.values(hosts)) expect(by).toEqual(['all', 'router', 'subgraph'])
  })

  test('have the scheme of the platform, and its port where they name none', () => {
    const named = { PUBLISHING_WEB_HOST: 'Publishing.Example, www.publishing.example:8443', PUBLISHING_API_HOST: 'api.publishing.example' }
    expect(originsIn({ ...complete, PUBLIC_URL: 'https://example.com', ...named })).toEqual([
      'publishing web https://publishing.example',
      'publishing web https://www.publishing.example:8443',
      'publishing api https://api.publishing.example',
    ])
    expect(originsIn({ PUBLISHING_API_HOST: 'api.test' })).toContain('publishing api http://api.test:4000')
    expect(originsIn({ PUBLISHING_API_HOST: 'api.test' })).not.toContain('publishing api http://publishing.localhost:4000')
  })

  test.for([
    [{ AGENTS_WEB_HOST: 'https://agents.example' }, /^AGENTS_WEB_HOST: must be names of hosts/],
    [{ AGENTS_WEB_HOST: 'a.example,' }, /^AGENTS_WEB_HOST: must be names of hosts/],
    [{ AGENTS_WEB_HOST: 'a.example', PAYMENTS_API_HOST: 'A.example' }, /^PAYMENTS_API_HOST: a\.example is named by AGENTS_WEB_HOST too/],
    [{ AGENTS_WEB_HOST: 'a.example:8443', PAYMENTS_API_HOST: 'a.example' }, /^PAYMENTS_API_HOST: a\.example is named by AGENTS_WEB_HOST too/],
    [{ PUBLIC_URL: 'https://example.com', AGENTS_API_HOST: 'example.com:8443' }, /^AGENTS_API_HOST: example\.com is the host of PUBLIC_URL/],
    [{ PUBLIC_URL: 'https://example.com', AGENTS_API_HOST: 'example.com' }, /^AGENTS_API_HOST: example\.com is the host of PUBLIC_URL/],
  ] as const)('%o is a mistake', ([environment, line]) => expect(() => readConfig(environment)).toThrow(line))

  test('determine the addresses of payments’ pages, and PUBLIC_URL those with a prefix', () => {
    const at = { ...complete, PUBLIC_URL: 'https://example.com' }
    expect(readConfig(at).paymentsAddresses).toEqual({ auth: 'https://example.com', gateway: 'https://example.com', app: 'https://example.com' })
    expect(readConfig({ ...at, PAYMENTS_WEB_HOST: 'pay.example' }).paymentsAddresses.app).toBe('https://pay.example')
    expect(readConfig({ ...at, PAYMENTS_WEB_HOST: 'pay.example', PAYMENTS_APP_URL: 'https://p.example' }).paymentsAddresses.app).toBe('https://p.example')
  })
})

test('settings of the marketing site have usual values, and are made even', () => {
  expect(readConfig({}).marketing).toEqual({ consentUrl: null, consentProject: 'marketing', demoTimeZone: 'UTC', leadsMailTo: null, developersWebUrl: null })
  const given = {
    CONSENT_URL: 'https://consent.example/',
    CONSENT_PROJECT: 'site',
    DEMO_TIME_ZONE: 'europe/berlin',
    LEADS_MAIL_TO: 'Sales@Example.com',
    DEVELOPERS_WEB_URL: 'https://d.example/',
  }
  expect(readConfig(given).marketing).toEqual({
    ...{ consentUrl: 'https://consent.example', consentProject: 'site', demoTimeZone: 'Europe/Berlin', leadsMailTo: 'sales@example.com' },
    developersWebUrl: 'https://d.example',
  })
})

test('a provider of challenges needs its keys, and the platform challenges visitors itself by default', () => {
  expect(readConfig({}).publicChat).toMatchObject({ challengeProvider: 'altcha', challengeSecret: null, challengeSiteKey: null, challengeVerifyUrl: null })
  const keys = { CHALLENGE_SECRET: 'x'.repeat(32), CHALLENGE_SITE_KEY: 'site' }
  const provider = { CHALLENGE_PROVIDER: 'turnstile' }
  expect(readConfig({ ...provider, ...keys, CHALLENGE_VERIFY_URL: 'https://v.example/' }).publicChat).toMatchObject({
    ...{ challengeProvider: 'turnstile', challengeSiteKey: 'site', challengeVerifyUrl: 'https://v.example' },
  })
  for (const half of [{}, { CHALLENGE_SECRET: keys.CHALLENGE_SECRET }, { CHALLENGE_SITE_KEY: 'site' }])
    expect(() => readConfig({ ...provider, ...half })).toThrow(/CHALLENGE_PROVIDER: turnstile needs CHALLENGE_SECRET and CHALLENGE_SITE_KEY/)
  expect(() => readConfig({ CHALLENGE_PROVIDER: 'captcha' })).toThrow(/CHALLENGE_PROVIDER/)
})

test('ways to people have no service by themselves, and take what is set', () => {
  expect(readConfig({}).notifications).toEqual({ serviceUrl: null, serviceSecrets: null, vapidPrivateKey: null, vapidSubject: null })
  const secret = `whsec_${'A'.repeat(32)}`
  const key = 'A'.repeat(42).concat('E')
  const given = { NOTIFICATIONS_URL: 'https://n.example/', NOTIFICATIONS_SECRETS: secret, VAPID_PRIVATE_KEY: key, VAPID_SUBJECT: 'mailto:ops@example.com' }
  expect(readConfig(given).notifications).toEqual({
    ...{ serviceUrl: 'https://n.example', serviceSecrets: [secret], vapidPrivateKey: key, vapidSubject: 'mailto:ops@example.com' },
  })
})

describe('S-15 staging', () => {
  const staging = { ...complete, ENVIRONMENT: 'staging', PRODUCTION_HOSTS: 'prod.example, db.example:5432' }
  const shared = (settings: Record<string, string>): string[] => {
    try {
      readConfig({ ...staging, ...settings })
      return []
    } catch (error) {
      return (error as Error).message.split('\n').map(line => /^(\w+): \S+ is a host of production/.exec(line)?.[1] ?? line)
    }
  }

  test.for([
    ['PUBLIC_URL', 'https://Prod.example'],
    ['CORS_ORIGINS', 'https://staging.example,https://prod.example:8443'],
    ['DATABASE_URL', 'postgres://user:p%40ss@db.example/name'],
    ['DATABASE_URL', 'postgres://staging.example/name?host=db.example'],
    ['NATS_URL', 'nats://user:pass@staging.example:4222,prod.example:4222'],
    ['ROUTER_URL', 'http://staging.example,http://prod.example:4000'],
    ['PROVIDERS_URL', 'http://prod.example:4006/graphql'],
    ['IDENTITY_URL', 'http://prod.example/graphql'],
    ['X_API_URL', 'https://prod.example'],
    ['PAYMENTS_AUTH_URL', 'https://prod.example'],
    ['CONSENT_URL', 'https://prod.example/consent'],
    ['NOTIFICATIONS_URL', 'https://prod.example/notifications'],
    ['DEVELOPERS_WEB_URL', 'https://prod.example/developers'],
    ['LAUNCHER_MARKETING_HOST', 'www.staging.example,prod.example'],
  ] as const)('does not start with %s at %s', ([name, value]) => {
    expect(shared({ [name]: value })).toEqual([name])
    expect(() => readConfig({ ...complete, PRODUCTION_HOSTS: staging.PRODUCTION_HOSTS, [name]: value })).not.toThrow()
  })

  test('names each missing setting in a line of its own, before anything is opened', () => {
    expect(shared({ PUBLIC_URL: 'https://prod.example', DATABASE_URL: 'postgres://db.example/name' })).toEqual(['PUBLIC_URL', 'DATABASE_URL'])
  })

  test('may share the machine of a host with an explicit port, and with similar names', () => {
    expect(
      shared({ DATABASE_URL: 'postgres://db.example:5433/name', PUBLIC_URL: 'https://staging.prod.example', ROUTER_URL: 'http://prod.example.test' }),
    ).toEqual([])
  })

  test('gives payments each of its addresses, and derives none', () => {
    const missing = (environment: Record<string, string>) => missingBindings(readConfig(environment)).map(line => line.split(':')[0])
    expect(missing({ ...staging, PAYMENTS_GATEWAY_URL: 'https://g.example' })).toEqual(['PAYMENTS_AUTH_URL', 'PAYMENTS_APP_URL'])
    expect(missing({ ...complete })).toEqual([])
    expect(missing({})).toEqual([])
  })
})
