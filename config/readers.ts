import { Resolver } from 'node:dns'
import { compile } from '@fastify/proxy-addr'
import { z } from 'zod'
import { readNatsUrl } from '../carriers/nats-address.ts'
import { type MailServer, readMailServer } from '../platform/smtp/address.ts'
import type { Sender } from '../subgraphs/identity/mail/compose.ts'
import { readPriceIds } from '../subgraphs/launcher/engines/commerce/price-ids.ts'
import type { PriceIds } from '../subgraphs/launcher/registration.ts'
import { type QuotaTable, readQuotaTable } from '../subgraphs/providers/engines/video/table.ts'

/** How the text of a variable becomes a value. What is wrong with it is a sentence that goes on after the variable's name. */

/** A key of 32 bytes with the short name that ciphertexts carry. */
export interface NamedKey {
  readonly id: string
  readonly key: Buffer
}

export const text = z.string().min(1)

export const atLeast = (characters: number) => z.string().min(characters, `must have at least ${characters} characters`)

export const oneOf = <const Values extends readonly [string, ...string[]]>(...values: Values) => z.enum(values, `must be one of ${values.join(', ')}`)

/** Where answers of subgraphs are kept: nowhere, in memory, or also in a Redis server, by its address. */
export const cacheStore = z
  .string()
  .refine(
    value => value === 'off' || value === 'memory' || isRedisAddress(value),
    'must be one of off, memory, or an address such as redis://user:password@host:6379/0, rediss:// for TLS',
  )

function isRedisAddress(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : null
  return url !== null && /^rediss?:$/.test(url.protocol) && url.hostname !== '' && /^(?:\/\d{0,4})?$/.test(url.pathname) && !url.search && !url.hash
}

export const flag = oneOf('0', '1', 'true', 'false').transform(value => value === '1' || value === 'true')

/** Digits that make a number within bounds. */
export const whole = (least: number, most: number, sentence: string) =>
  z
    .string()
    .regex(/^\d{1,9}$/, sentence)
    .transform(Number)
    .refine(value => value >= least && value <= most, sentence)

export const port = whole(0, 65_535, 'must be a port number from 0 to 65535')
export const milliseconds = whole(1, 9_999_999, 'must be a number of milliseconds')
export const quota = whole(0, 999_999_999, 'must be a whole number')
/** An amount in micro-dollars, or that there is no bound. */
export const microsOrUnlimited = z
  .string()
  .regex(/^(?:unlimited|\d{1,15})$/, 'must be a whole number of micro-dollars, or unlimited')
  .transform(value => (value === 'unlimited' ? value : BigInt(value)))
export const rate = whole(1, 999_999_999, 'must be a whole number, at least 1')
export const answerBytes = whole(1000, 256 * 1024 * 1024, 'must be a number of bytes from 1000 to 268435456')
export const mebibytes = whole(1, 1024 * 1024, 'must be a number of mebibytes from 1 to 1048576')
export const cost = whole(1000, 999_999_999, 'must be a whole number from 1000 to 999999999')
export const share = z
  .string()
  .regex(/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/, 'must be a number from 0 to 1')
  .transform(Number)
export const days = (least: number) => whole(least, 99_999, `must be a whole number of days, at least ${least}`)

export const address = z.url({ protocol: /^https?$/, error: 'must be an address such as https://example.com' }).transform(value => value.replace(/\/+$/, ''))

/** An address that is compared letter by letter: nothing of it is made even. */
export const issuer = z.url({ protocol: /^https?$/, error: 'must be an address such as https://login.example.com' })

export const origin = address
  .transform(value => new URL(value))
  .refine(
    ({ pathname, search, hash, username }) => pathname === '/' && !search && !hash && !username,
    'must be an origin without a path, such as https://example.com',
  )
  .transform(url => url.origin)

/** Origins as browsers write them, with commas between; applications that are no browser have schemes of their own. */
export const origins = z.string().transform((value, context) => {
  const list = value.split(',').map(each => originIn(each.trim().replace(/\/$/, '')))
  if (list.every(each => each !== null)) return list as readonly string[]
  context.addIssue(
    'must be origins with commas between, each scheme://host or scheme://host:port without a path, such as https://app.example.com,http://localhost:5173',
  )
  return z.NEVER
})

/** An origin in lower case and without the port that goes without saying; null for what is none, `null` and `*` among it. */
function originIn(written: string): string | null {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@,*\\]+$/i.test(written)) return null
  if (!/^https?:/i.test(written)) return written.toLowerCase()
  return URL.canParse(written) ? new URL(written).origin : null
}

/** Names of hosts with commas between, each with a port where it has one of its own; in lower case. */
export const hostNames = z.string().transform((value, context) => {
  const list = value.split(',').map(each => each.trim().toLowerCase())
  if (list.every(each => /^[a-z\d](?:[a-z\d.-]*[a-z\d])?(?::\d{1,5})?$/.test(each))) return list as readonly string[]
  context.addIssue('must be names of hosts with commas between, without scheme and path, such as app.example.com,www.example.com')
  return z.NEVER
})

export const postgres = z.url({ protocol: /^postgres(ql)?$/, error: 'must be an address such as postgres://user:password@host:5432/database' })

export const smtp = z.string().transform((value, context): MailServer => {
  const server = readMailServer(value)
  if (server) return server
  context.addIssue('must be an address such as smtp://user:password@mail.example.com:587, smtps:// for TLS from the first byte on')
  return z.NEVER
})

/** An address, with a name before it or without. */
/** Servers of DNS, by address: `192.0.2.53,[2001:db8::53]:5353`. */
export const dnsServers = z.string().transform((value, context): readonly string[] => {
  const servers = value.split(',').map(each => each.trim())
  try {
    new Resolver().setServers(servers)
    return servers
  } catch {
    context.addIssue('must name servers of DNS by their addresses, with commas between, such as 192.0.2.53,[2001:db8::53]:5353')
    return z.NEVER
  }
})

/** A secret of Standard Webhooks. */
export const webhookSecret = z.string().regex(/^(?:whsec_)?[A-Za-z0-9+/]{32,}={0,2}$/, 'must be whsec_ and at least 24 random bytes in base64')

/** SHA-256 of certificates, with commas between. */
export const fingerprints = z.string().transform((value, context): readonly string[] => {
  const list = value.split(',').map(each => each.trim().toUpperCase())
  if (list.length <= 10 && list.every(each => /^[\dA-F]{2}(?::[\dA-F]{2}){31}$/.test(each))) return list
  context.addIssue('must be at most 10 SHA-256 of certificates with commas between, each 32 hexadecimal pairs with colons between')
  return z.NEVER
})

/** The name of a domain, in lower case. */
export const domainName = z
  .string()
  .regex(/^(?=.{1,200}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/, 'must be the name of a domain in lower case, such as example.com')

export const mailbox = z.string().transform((value, context): Sender => {
  const [, name = '', address = ''] = /^\s*(?:"?([^"<>]*?)"?\s*<([^<>]+)>|[^<>]*)\s*$/.exec(value) ?? []
  const sender = { name: name.trim(), address: address || value.trim() }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not get into a header
  if (/^[^\s@<>]+@[^\s@<>]+$/.test(sender.address) && !/[\u0000-\u001f\u007f]/.test(value)) return sender
  context.addIssue('must be an address such as no-reply@example.com, or Example <no-reply@example.com>')
  return z.NEVER
})

/** How a video network counts: by name, or a file. */
export const quotaTable = z.string().transform((value, context): QuotaTable => {
  try {
    return readQuotaTable(value)
  } catch (error) {
    context.addIssue((error as Error).message)
    return z.NEVER
  }
})

/** Ids of prices at the payment processor: a file. */
export const priceIds = z.string().transform((value, context): PriceIds => {
  try {
    return readPriceIds(value)
  } catch (error) {
    context.addIssue((error as Error).message)
    return z.NEVER
  }
})

export const nats = z
  .string()
  .refine(isNatsUrl, 'must be an address such as nats://user:password@host:4222, several servers with commas between, tls:// for TLS')

function isNatsUrl(value: string): boolean {
  try {
    return readNatsUrl(value).servers.length > 0
  } catch {
    return false
  }
}

/** Addresses with commas between: one for each replica. */
export const addresses = z.string().transform((value, context) => {
  const list = value.split(',').map(each => address.safeParse(each.trim()))
  if (list.every(each => each.success)) return list.map(each => each.data) as readonly string[] as readonly [string, ...string[]]
  context.addIssue('must be an address such as https://example.com, several with commas between')
  return z.NEVER
})

export const headerNames = z
  .string()
  .transform(value => value.split(',').map(name => name.trim().toLowerCase()) as readonly string[])
  .refine(names => names.every(name => /^[a-z0-9-]+$/.test(name)), 'must be names of headers with commas between, such as authorization,x-tenant')

export const headerName = z
  .string()
  .toLowerCase()
  .regex(/^[a-z0-9-]+$/, 'must be the name of a header, such as x-user-id')

/** A flag, or addresses and networks with commas between them. */
export const proxies = z.string().transform((value, context): boolean | string => {
  const plain = flag.safeParse(value)
  if (plain.success) return plain.data
  const list = value.split(',').map(each => each.trim())
  if (list.every(isNetwork)) return list.join(',')
  context.addIssue('must be 0, 1, or the addresses and networks of the proxies with commas between, such as 10.0.0.0/8,192.168.1.7')
  return z.NEVER
})

/** Whether the library that will read it can. */
function isNetwork(written: string): boolean {
  try {
    return /^[\da-f.:]+(?:\/\d+)?$/i.test(written) && Boolean(compile(written))
  } catch {
    return false
  }
}

/** `name:base64,…`, each 32 bytes: the first encrypts, all of them decrypt. */
export const keys = z.string().transform((value, context) => {
  const list = value.split(',').map(part => {
    const [id = '', key = ''] = part.trim().split(':')
    return { id, key: Buffer.from(key, 'base64') }
  })
  if (list.some(({ id, key }) => !/^[a-z0-9-]{1,20}$/.test(id) || key.length !== 32))
    context.addIssue('must be a list of name:key pairs, each key 32 bytes in base64, such as k1:$(openssl rand -base64 32)')
  return list as readonly NamedKey[] as readonly [NamedKey, ...NamedKey[]]
})

/** Tokens with commas between, each of 32 characters or more. */
export const tokenList = z.string().transform((value, context): readonly string[] => {
  const list = value.split(',').map(each => each.trim())
  if (list.every(each => /^[\x21-\x7e]{32,}$/.test(each))) return list
  context.addIssue('must be tokens of 32 characters or more with commas between, such as $(openssl rand -base64 32)')
  return z.NEVER
})

/** Secrets by which somebody else signs what they send, with commas between: each counts. */
/** `whsec_…,whsec_…` of Standard Webhooks: each signs, or is accepted. */
export const webhookSecrets = z.string().transform((value, context): readonly string[] => {
  const list = value.split(',').map(each => each.trim())
  if (list.every(each => webhookSecret.safeParse(each).success)) return list
  context.addIssue('must be secrets with commas between, each whsec_ and at least 24 random bytes in base64')
  return z.NEVER
})

export const signingSecrets = z.string().transform((value, context): readonly string[] => {
  const list = value.split(',').map(each => each.trim())
  if (list.every(each => /^[\x21-\x7e]{20,}$/.test(each))) return list
  context.addIssue('must be secrets of 20 characters or more with commas between, such as whsec_…')
  return z.NEVER
})

/** Tokens of services by the app that each is for. */
export type AppTokens = ReadonlyMap<string, readonly string[]>

/** `app_publishing:token,…`, each token 32 characters or more; an app has several while one is changed. */
export const appTokens = z.string().transform((value, context): AppTokens => {
  const pairs = value.split(',').map(part => /^(app_[a-z\d_]+):([\x21-\x2b\x2d-\x7e]{32,})$/.exec(part.trim()))
  if (!pairs.every(pair => pair !== null)) {
    context.addIssue('must be a list of app:token pairs, each token 32 characters or more, such as app_publishing:$(openssl rand -base64 32)')
    return z.NEVER
  }
  const tokens = new Map<string, string[]>()
  for (const [, app, token] of pairs) tokens.set(app!, [...(tokens.get(app!) ?? []), token!])
  return tokens
})

export const oneKey = keys.refine(list => list.length === 1, 'must be one name:key pair: the router signs with one key').transform(([key]) => key)

/** A JSON object of headers. */
export const headersRead = z.string().transform((value, context): Readonly<Record<string, string>> => {
  try {
    return z.record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/), z.string().regex(/^[\t\x20-\x7E\x80-\xFF]*$/)).parse(JSON.parse(value))
  } catch {
    context.addIssue('must be a JSON object of header names and texts, such as {"authorization":"Bearer abc"}')
    return z.NEVER
  }
})
