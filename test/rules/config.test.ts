import { describe, expect, test } from 'vitest'
import { readConfig } from '../../config.ts'

const key = `k1:${Buffer.alloc(32, 7).toString('base64')}`
const complete = { ENVIRONMENT: 'production', AUTH_SECRET: 'x'.repeat(32), ENCRYPTION_KEYS: key }

const corsLine =
  'CORS_ORIGINS: must be origins with commas between, each scheme://host or scheme://host:port without a path, such as https://app.example.com,http://localhost:5173'

describe('a mistake in the configuration is one line that names the variable and what it takes', () => {
  test.for([
    [{ PORT: 'abc' }, 'PORT: must be a port number from 0 to 65535'],
    [{ PORT: '70000' }, 'PORT: must be a port number from 0 to 65535'],
    [{ PORT: '0' }, 'PORT: 0 takes a free port, whose address nobody knows beforehand: set PUBLIC_URL too, or name a port'],
    [{ SANDBOX_PORT: '-1' }, 'SANDBOX_PORT: must be a port number from 0 to 65535'],
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
    [{ EVENT_CARRIER: 'nats' }, 'EVENT_CARRIER: nats needs NATS_URL: set it, or leave both out'],
    [{ ROUTER_URL: 'router' }, 'ROUTER_URL: must be an address such as https://example.com, several with commas between'],
    [{ PROPAGATE_HEADERS: 'authorization,x tenant' }, 'PROPAGATE_HEADERS: must be names of headers with commas between, such as authorization,x-tenant'],
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

  test('several mistakes are told at once', () => {
    expect(() => readConfig({ PORT: 'x', DEMO: 'x' })).toThrow(/^PORT: .*\nDEMO: .*$/)
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
  test('the platform listens on loopback, keeps its own database, and has demo data', () => {
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

  test('a public address is kept as an origin', () => {
    expect(readConfig({ PUBLIC_URL: 'https://Example.com:443/' }).publicUrl).toBe('https://example.com')
  })
})

describe('what the command line and the start say', () => {
  test('the command line comes before the environment, the environment before the start', () => {
    const reading = { given: { PORT: '4100' }, defaults: { PORT: '4001', PUBLIC_URL: 'http://localhost:4000' } }
    expect(readConfig({ PORT: '4200' }, reading)).toMatchObject({ port: 4100, publicUrl: 'http://localhost:4000' })
    expect(readConfig({ PORT: '4200' }, { defaults: reading.defaults }).port).toBe(4200)
    expect(readConfig({}, { defaults: reading.defaults }).port).toBe(4001)
  })

  test('a start that keeps no secrets needs none in production', () => {
    expect(readConfig({ ENVIRONMENT: 'production' }, { secrets: false }).environment).toBe('production')
  })

  test('a subgraph is where <NAME>_URL says', () => {
    const config = readConfig({ STOCK_ROOM_URL: 'http://stock.test/graphql/', BROKEN_URL: 'stock' })
    expect([config.subgraphUrls('stock-room'), config.subgraphUrls('catalogue')]).toEqual([['http://stock.test/graphql'], null])
    expect(() => config.subgraphUrls('broken')).toThrow('BROKEN_URL: must be an address such as https://example.com')
  })
})
