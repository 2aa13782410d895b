import { isIP, isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import { z } from 'zod'
import { StartError } from './start-error.ts'

/** A key of 32 bytes with the short name that ciphertexts carry. */
export interface NamedKey {
  readonly id: string
  readonly key: Buffer
}

/** Everything the platform is told by its environment: read once, here, and nowhere else. */
export interface Config {
  /** Which environment this is; apart from NODE_ENV, which belongs to libraries. */
  readonly environment: 'development' | 'staging' | 'production'
  /** Who runs operations: our executor, or the stock Apollo Gateway, which has no subscriptions. */
  readonly engine: 'native' | 'apollo'
  /** The name or address to listen on; `localhost` is loopback in both families. */
  readonly host: string
  readonly port: number
  /** Origin under which clients reach the platform, without a trailing slash. */
  readonly publicUrl: string
  /** Origins of pages that may read answers and send the session cookie, beside the platform's own. */
  readonly corsOrigins: readonly string[]
  readonly dataDir: string
  /** A PostgreSQL (16 or later) of one's own; null: the embedded one, in `dataDir`. */
  readonly databaseUrl: string | null
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
  /** Whether a proxy in front names the client's address. */
  readonly trustProxy: boolean | string
  /**
   * Whether there are demo data, a sandbox and printed passwords: in development where nobody else can reach it (HOST and PUBLIC_URL are
   * loopback), or when asked for; never in production.
   */
  readonly demo: boolean
  /** Signs sessions; null: generated into `dataDir`. */
  readonly authSecret: string | null
  /** Encrypts tokens at rest, the first one for what is new; null: generated into `dataDir`. */
  readonly encryptionKeys: readonly [NamedKey, ...NamedKey[]] | null
  readonly sandbox: {
    /** Where the sandbox listens; a free port when it is taken. */
    readonly port: number
    /** Folder of a sandbox that runs as a process of its own; null: it runs within this one. */
    readonly folder: string | null
  }
  /** Our application at X; null: none. */
  readonly x: { readonly clientId: string; readonly clientSecret: string; readonly authorizeUrl: string; readonly apiUrl: string } | null
  /** Connections to the database: Sequelize's, and each job runner's. Identity has four of its own. */
  readonly pools: { readonly sequelize: number; readonly jobs: number }
  /** How much one caller may make. */
  readonly quotas: {
    readonly organizationsADay: number
    readonly organizationsAPerson: number
    readonly membersAnOrganization: number
    readonly additionsAnHour: number
    readonly keysAnOrganization: number
    readonly keysADay: number
    readonly brandsAnOrganization: number
    readonly postsADay: number
  }
  /** For how many days records are kept. */
  readonly retention: { readonly auditDays: number; readonly attemptDays: number }
  /** How the router tells subgraphs that run apart who asks. */
  readonly seal: {
    /** Signs: the router's alone. Null: nothing can be sealed here. */
    readonly privateKey: NamedKey | null
    /** Check: the subgraphs'. Null: no seal can be checked here. */
    readonly publicKeys: readonly [NamedKey, ...NamedKey[]] | null
  }
  /** Where processes of the platform find the router, without a trailing slash. */
  readonly routerUrl: string
  /** What the router does with subgraphs that it reaches over HTTP. */
  readonly remote: {
    /** Names of client headers, in lower case, that pass to subgraphs. */
    readonly propagate: readonly string[]
    /** Whether equal queries that are on their way at the same time are asked once. */
    readonly deduplicate: boolean
    /** Milliseconds that one fetch may take. */
    readonly fetchMs: number
    /** Milliseconds that all fetches of one operation may take together. */
    readonly operationMs: number
    /** Bytes of one answer as JSON. */
    readonly answerBytes: number
  }
  /**
   * Where a subgraph answers, when `<NAME>_URL` says so: `NAME` is its name in capitals, other characters as underscores.
   * @throws StartError for a value that is no address
   */
  subgraphUrl(name: string): string | null
  /**
   * Milliseconds that one fetch from a subgraph may take, when `<NAME>_TIMEOUT_MS` says so.
   * @throws StartError for a value that is no number of milliseconds
   */
  subgraphTimeoutMs(name: string): number | null
  /** The folder from which npm, or else this process, was started: relative paths of the command line are meant from there. */
  readonly calledFrom: string
  /** Tests only: where the process kills itself. */
  readonly crashAt: string | null
  /** Whether npm started us, so that its end is ours. */
  readonly startedByNpm: boolean
}

const oneOf = <const Values extends readonly [string, ...string[]]>(...values: Values) => z.enum(values, `must be one of ${values.join(', ')}`)
const flag = oneOf('0', '1', 'true', 'false').transform(value => value === '1' || value === 'true')
const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number from 0 to 65535')
  .transform(Number)
  .refine(value => value <= 65_535, 'must be a port number from 0 to 65535')
/** A flag, or addresses and networks with commas between them. */
const proxies = z.string().transform((value, context) => {
  const plain = flag.safeParse(value)
  if (plain.success) return plain.data
  const known = value.split(',').every(each => {
    const [address = '', bits] = each.trim().split('/')
    return isIP(address) !== 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIPv6(address) ? 128 : 32)))
  })
  if (known) return value.replaceAll(' ', '')
  context.addIssue('must be 0, 1, or the addresses and networks of the proxies with commas between, such as 10.0.0.0/8,192.168.1.7')
  return z.NEVER
})
const milliseconds = z
  .string()
  .regex(/^\d{1,7}$/, 'must be a number of milliseconds')
  .transform(Number)
  .refine(value => value > 0, 'must be a number of milliseconds')
const quota = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number)
const answerBytes = 'must be a number of bytes from 1000 to 268435456'
const days = (least: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, `must be a whole number of days, at least ${least}`)
    .transform(Number)
    .refine(value => value >= least, `must be a whole number of days, at least ${least}`)
const address = z.url({ protocol: /^https?$/, error: 'must be an address such as https://example.com' }).transform(value => value.replace(/\/+$/, ''))

/** Origins as browsers write them, with commas between; applications that are no browser have schemes of their own. */
const origins = z
  .string()
  .transform(value => value.split(',').map(each => originIn(each.trim().replace(/\/$/, ''))))
  .refine(
    list => list.every(each => each !== null),
    'must be origins with commas between, each scheme://host or scheme://host:port without a path, such as https://app.example.com,http://localhost:5173',
  )

const variables = z.object({
  ENVIRONMENT: oneOf('development', 'staging', 'production').default('development'),
  ROUTER_ENGINE: oneOf('native', 'apollo').default('native'),
  HOST: z.string().min(1).default('localhost'),
  PORT: port.default(4000),
  PUBLIC_URL: address
    .transform(value => new URL(value))
    .refine(
      ({ pathname, search, hash, username }) => pathname === '/' && !search && !hash && !username,
      'must be an origin without a path, such as https://example.com',
    )
    .transform(({ origin }) => origin)
    .optional(),
  CORS_ORIGINS: origins.default([]),
  DATA_DIR: z.string().min(1).default('.data'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be an address such as postgres://user:password@host:5432/database' }).optional(),
  LOG_LEVEL: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').optional(),
  DEMO: flag.optional(),
  TRUST_PROXY: proxies.default(false),
  AUTH_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  ENCRYPTION_KEYS: z.string().transform(readKeys).optional(),
  SANDBOX_PORT: port.optional(),
  SANDBOX_DIR: z.string().min(1).optional(),
  SEAL_PRIVATE_KEY: z
    .string()
    .transform(readKeys)
    .refine(keys => keys.length === 1, 'must be one name:key pair: the router signs with one key')
    .optional(),
  SEAL_PUBLIC_KEYS: z.string().transform(readKeys).optional(),
  ROUTER_URL: address.optional(),
  PROPAGATE_HEADERS: z
    .string()
    .transform(value => value.split(',').map(name => name.trim().toLowerCase()))
    .refine(names => names.every(name => /^[a-z0-9-]+$/.test(name)), 'must be names of headers with commas between, such as authorization,x-tenant')
    .default([]),
  DEDUPLICATE: flag.default(false),
  FETCH_TIMEOUT_MS: milliseconds.default(10_000),
  OPERATION_TIMEOUT_MS: milliseconds.default(30_000),
  ANSWER_BYTES: z
    .string()
    .regex(/^\d{4,9}$/, answerBytes)
    .transform(Number)
    .refine(value => value <= 256 * 1024 * 1024, answerBytes)
    .default(16 * 1024 * 1024),
  X_CLIENT_ID: z.string().min(1).optional(),
  X_CLIENT_SECRET: z.string().min(1).optional(),
  X_AUTHORIZE_URL: address.default('https://x.com/i/oauth2/authorize'),
  X_API_URL: address.default('https://api.x.com'),
  ORGANIZATIONS_PER_DAY: quota.default(50),
  ORGANIZATIONS_PER_PERSON: quota.default(500),
  MEMBERS_PER_ORGANIZATION: quota.default(1_000),
  MEMBER_ADDITIONS_PER_HOUR: quota.default(100),
  API_KEYS_PER_ORGANIZATION: quota.default(500),
  API_KEYS_PER_DAY: quota.default(500),
  BRANDS_PER_ORGANIZATION: quota.default(500),
  POSTS_PER_DAY: quota.default(5_000),
  AUDIT_RETENTION_DAYS: days(1).default(400),
  ATTEMPT_RETENTION_DAYS: days(8).default(90),
  CRASH_AT: z.string().min(1).optional(),
})

/** An origin in lower case and without the port that goes without saying; null for what is none, `null` and `*` among it. */
function originIn(text: string): string | null {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@,*\\]+$/i.test(text)) return null
  if (!/^https?:/i.test(text)) return text.toLowerCase()
  return URL.canParse(text) ? new URL(text).origin : null
}

/** `name:base64,…`, each 32 bytes: the first encrypts, all of them decrypt. */
function readKeys(text: string, context: z.RefinementCtx): [NamedKey, ...NamedKey[]] {
  const keys = text.split(',').map(part => {
    const [id = '', key = ''] = part.trim().split(':')
    return { id, key: Buffer.from(key, 'base64') }
  })
  if (keys.some(({ id, key }) => !/^[a-z0-9-]{1,20}$/.test(id) || key.length !== 32))
    context.addIssue('must be a list of name:key pairs, each key 32 bytes in base64, such as k1:$(openssl rand -base64 32)')
  return keys as [NamedKey, ...NamedKey[]]
}

/** Whether a name or address is this machine alone. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

type Variables = Readonly<Record<string, string | undefined>>

export interface Reading {
  /** Variables whose values the command line gave: they come before those of the environment. */
  readonly given?: Variables
  /** Values where neither names one. */
  readonly defaults?: Variables
  /** Whether outside development the platform's secrets must be configured. @default true */
  readonly secrets?: boolean
}

/**
 * Reads and checks the configuration.
 * @throws StartError with one line a mistake: the variable, what is wrong with it, what to do
 */
export function readConfig(environment: Variables = process.env, reading: Reading = {}): Config {
  // An empty variable counts as none: that is what most ways of setting variables make of "unset".
  const given = Object.fromEntries(Object.entries({ ...environment, ...reading.given }).filter(([, value]) => value !== undefined && value !== ''))
  for (const [name, value] of Object.entries(reading.defaults ?? {})) given[name] ??= value
  const parsed = variables.safeParse(given)
  const mistakes = parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  if (!parsed.success) throw new StartError(mistakes.join('\n'))
  const v = parsed.data
  const publicUrl = v.PUBLIC_URL ?? `http://localhost:${v.PORT}`
  const loopback = [v.HOST, new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')].every(isLoopback)
  const apart = v.ENVIRONMENT !== 'development'
  const secrets = apart && (reading.secrets ?? true)
  if (secrets && !v.AUTH_SECRET) mistakes.push(`AUTH_SECRET: missing, and ${v.ENVIRONMENT} generates none: set at least 32 random characters`)
  if (secrets && !v.ENCRYPTION_KEYS) mistakes.push(`ENCRYPTION_KEYS: missing, and ${v.ENVIRONMENT} generates none: set k1:<32 random bytes in base64>`)
  if (Boolean(v.X_CLIENT_ID) !== Boolean(v.X_CLIENT_SECRET)) mistakes.push('X_CLIENT_ID and X_CLIENT_SECRET: one is set without the other; set both or none')
  if (v.DEMO && v.ENVIRONMENT === 'production')
    mistakes.push('DEMO: production has no demo accounts, whose password everybody knows: leave it out, or try the demo with ENVIRONMENT=staging')
  if (v.CRASH_AT && v.ENVIRONMENT !== 'development') mistakes.push('CRASH_AT: only in development, for tests')
  if (v.PORT === 0 && !v.PUBLIC_URL) mistakes.push('PORT: 0 takes a free port, whose address nobody knows beforehand: set PUBLIC_URL too, or name a port')
  if (mistakes.length) throw new StartError(mistakes.join('\n'))
  return {
    environment: v.ENVIRONMENT,
    engine: v.ROUTER_ENGINE,
    host: v.HOST,
    port: v.PORT,
    publicUrl,
    corsOrigins: v.CORS_ORIGINS as readonly string[],
    dataDir: resolve(v.DATA_DIR),
    databaseUrl: v.DATABASE_URL ?? null,
    logLevel: v.LOG_LEVEL ?? (apart ? 'info' : 'warn'),
    trustProxy: v.TRUST_PROXY,
    demo: v.DEMO ?? (loopback && v.ENVIRONMENT === 'development'),
    authSecret: v.AUTH_SECRET ?? null,
    encryptionKeys: v.ENCRYPTION_KEYS ?? null,
    sandbox: { port: v.SANDBOX_PORT ?? Math.min(v.PORT + 100, 65535), folder: v.SANDBOX_DIR ? resolve(v.SANDBOX_DIR) : null },
    x:
      v.X_CLIENT_ID && v.X_CLIENT_SECRET
        ? { clientId: v.X_CLIENT_ID, clientSecret: v.X_CLIENT_SECRET, authorizeUrl: v.X_AUTHORIZE_URL, apiUrl: v.X_API_URL }
        : null,
    pools: { sequelize: 10, jobs: 6 },
    quotas: {
      organizationsADay: v.ORGANIZATIONS_PER_DAY,
      organizationsAPerson: v.ORGANIZATIONS_PER_PERSON,
      membersAnOrganization: v.MEMBERS_PER_ORGANIZATION,
      additionsAnHour: v.MEMBER_ADDITIONS_PER_HOUR,
      keysAnOrganization: v.API_KEYS_PER_ORGANIZATION,
      keysADay: v.API_KEYS_PER_DAY,
      brandsAnOrganization: v.BRANDS_PER_ORGANIZATION,
      postsADay: v.POSTS_PER_DAY,
    },
    retention: { auditDays: v.AUDIT_RETENTION_DAYS, attemptDays: v.ATTEMPT_RETENTION_DAYS },
    seal: { privateKey: v.SEAL_PRIVATE_KEY?.[0] ?? null, publicKeys: v.SEAL_PUBLIC_KEYS ?? null },
    routerUrl: v.ROUTER_URL ?? v.PUBLIC_URL ?? `http://localhost:${v.PORT}`,
    remote: {
      propagate: v.PROPAGATE_HEADERS,
      deduplicate: v.DEDUPLICATE,
      fetchMs: v.FETCH_TIMEOUT_MS,
      operationMs: v.OPERATION_TIMEOUT_MS,
      answerBytes: v.ANSWER_BYTES,
    },
    subgraphUrl: name => ofSubgraph(name, 'URL', address),
    subgraphTimeoutMs: name => ofSubgraph(name, 'TIMEOUT_MS', milliseconds),
    calledFrom: environment.INIT_CWD || process.cwd(),
    crashAt: v.CRASH_AT ?? null,
    startedByNpm: Boolean(environment.npm_lifecycle_event),
  }

  function ofSubgraph<Value>(name: string, what: string, schema: z.ZodType<Value>): Value | null {
    const variable = `${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_${what}`
    const found = schema.optional().safeParse(given[variable])
    if (!found.success) throw new StartError(`${variable}: ${found.error.issues[0]!.message}`)
    return found.data ?? null
  }
}

/** Whether lines that the process prints are for collectors, not for eyes: known before the rest of the environment was found right. */
export const printsJson = (environment: Variables = process.env): boolean => ['staging', 'production'].includes(environment.ENVIRONMENT ?? '')

/** Every variable that has a meaning of its own; those of single subgraphs (`<NAME>_URL`) are not among them. */
export const settingNames: readonly string[] = Object.keys(variables.shape)
