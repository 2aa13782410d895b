import { DomainError } from '../../../platform/errors.ts'
import { requireName } from '../../../platform/ids.ts'
import type { Viewer } from '../../viewer.ts'
import { isProvider, type Provider, type ProviderName, providerNames, providerOf } from '../engines/third-party/catalogue.ts'
import { type CredentialRow, platformReaders } from '../stores/credential/credential.ts'

/** Maximum characters of a credential's texts. */
const longest = { name: 100, plain: 500, secret: 4_096, address: 2_000 } as const

/** A field in the input. */
export interface GivenField {
  readonly name: string
  readonly value: string
}

/** The validated fields of a credential. */
export interface Fields {
  readonly plain: Readonly<Record<string, string>>
  readonly secret: string
}

const refuse = (field: string, sentence: string): never => {
  throw new DomainError('BAD_USER_INPUT', sentence, { field })
}

/** @throws BAD_USER_INPUT for an unknown provider */
export function requireProvider(name: string): ProviderName {
  if (isProvider(name)) return name
  return refuse('provider', `provider names none that is known here: give one of ${providerNames.join(', ')}.`)
}

/** Returns the providers of a family, or the named one; null for all. */
export const providersWhere = (family: Provider['family'] | null, name: ProviderName | null): readonly string[] | null => {
  if (name !== null) return family === null || providerOf(name).family === family ? [name] : []
  return family === null ? null : providerNames.filter(each => providerOf(each).family === family)
}

/** Returns the names of a provider's fields, in display order. */
const namesOf = ({ plain, secret }: Provider): readonly string[] => [...plain, secret]

/**
 * Reads the fields of a new credential. No message repeats a value, which may be a mistyped secret.
 * @throws BAD_USER_INPUT, with the `field` that is unknown, repeated, missing, or invalid
 */
export function readFields(name: ProviderName, given: readonly GivenField[]): Fields {
  const provider = providerOf(name)
  const wanted = namesOf(provider)
  const values = new Map<string, string>()
  for (const [index, field] of given.entries()) {
    const at = `fields[${index}]`
    if (!wanted.includes(field.name)) refuse(`${at}.name`, `${at}.name is no field of ${name}: it takes ${wanted.join(', ')}.`)
    if (values.has(field.name)) refuse(`${at}.name`, `${at} gives ${field.name} a second time: leave one of them out.`)
    values.set(field.name, readValue(field.value, `${at}.value`, field.name === provider.secret ? longest.secret : longest.plain))
  }
  const missing = wanted.filter(each => !values.has(each))
  if (missing.length > 0) refuse('fields', `A credential of ${name} needs ${missing.join(', ')} among its fields.`)
  return { plain: Object.fromEntries(provider.plain.map(each => [each, values.get(each)!])), secret: values.get(provider.secret)! }
}

/**
 * Reads the fields of a rotation: the secret, and other fields that change with it.
 * @param before the present fields without the secret
 * @throws BAD_USER_INPUT as `readFields` does
 */
export function readRotated(name: ProviderName, given: readonly GivenField[], before: Fields['plain']): Fields {
  const { plain, secret } = providerOf(name)
  if (!given.some(field => field.name === secret)) refuse('fields', `A rotation of a credential of ${name} needs ${secret} among its fields.`)
  const kept = plain.filter(each => !given.some(field => field.name === each) && before[each] !== undefined)
  return readFields(name, [...given, ...kept.map(each => ({ name: each, value: before[each]! }))])
}

/** A week, in seconds. */
const longestGrace = 604_800

/** Reads the seconds for which the former secret stays valid. @throws BAD_USER_INPUT */
export function readGrace(given: number | null | undefined): number {
  const seconds = given ?? 3_600
  if (seconds < 0 || seconds > longestGrace) refuse('graceSeconds', `graceSeconds takes 0 to ${longestGrace}, a week.`)
  return seconds
}

/** Reads a value, without surrounding white space from copying. */
function readValue(given: string, field: string, most: number): string {
  const value = given.trim()
  if (value.length < 1 || value.length > most || /\p{Cc}/u.test(value) || !value.isWellFormed())
    refuse(field, `${field} takes 1 to ${most} characters on one line, without control characters.`)
  return value
}

/** Returns the visible part of a secret: its last four characters if it is long enough. */
export const mask = (secret: string): string => {
  const characters = [...secret]
  return `••••${characters.length < 12 ? '' : characters.slice(-4).join('')}`
}

/**
 * Reads the name of a new credential: a custom provider's models begin with it, so it is required there, and must be
 * unambiguous.
 * @throws BAD_USER_INPUT
 */
export function readName(provider: ProviderName, given: string | null | undefined): string {
  if (provider !== 'custom') return given?.trim() ? requireName(given, 'name', longest.name) : providerOf(provider).title
  if (!given?.trim()) return refuse('name', 'A custom provider needs a name: its models are called <name>/….')
  const name = requireName(given, 'name', longest.name)
  if (!/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(name))
    refuse(
      'name',
      'The name of a custom provider begins with a letter or a digit and goes on with letters, digits, ".", "_" and "-": models are called <name>/….',
    )
  if (isProvider(name.toLowerCase())) refuse('name', `${name} is what a provider is called that is known here: choose another name.`)
  return name
}

/**
 * Reads a custom provider's address, without a trailing slash; null for others.
 * @throws BAD_USER_INPUT for a missing, unexpected or invalid one
 */
export function readBaseUrl(provider: ProviderName, given: string | null | undefined): URL | null {
  if (!providerOf(provider).isAnywhere) {
    if (given !== null && given !== undefined) refuse('baseUrl', `baseUrl is for custom providers: ${provider} is called at its own address.`)
    return null
  }
  if (!given) return refuse('baseUrl', 'A custom provider needs a baseUrl, such as https://models.example.com/v1.')
  const url = given.length <= longest.address && URL.canParse(given) ? new URL(given) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    return refuse('baseUrl', 'baseUrl must be an address of HTTP such as https://models.example.com/v1, without a user, a query or a fragment.')
  url.pathname = url.pathname.replace(/\/+$/, '')
  return url
}

/**
 * Reads the mail server of an SMTP credential; null for others.
 * @throws BAD_USER_INPUT for an invalid host or port
 */
export function readMailHost(
  provider: ProviderName,
  { plain }: Pick<Fields, 'plain'>,
  given: readonly GivenField[],
): { readonly address: URL; readonly field: string } | null {
  if (provider !== 'smtp') return null
  const { host, port } = plain as { readonly host: string; readonly port: string }
  const place = (name: string) => {
    const index = given.findIndex(each => each.name === name)
    return index < 0 ? name : `fields[${index}].value`
  }
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535) refuse(place('port'), 'port must be a number from 1 to 65535.')
  const field = place('host')
  const written = `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`
  if (/[/?#@\\\s]/.test(host) || !URL.canParse(written))
    return refuse(field, 'host must be the name or the address of a mail server, such as smtp.example.com.')
  return { address: new URL(written), field }
}

/** Returns the fields for people: the secret is masked. */
export function shownFields({ provider: name, plain, masked }: Pick<CredentialRow, 'provider' | 'plain' | 'masked'>) {
  const provider = providerOf(name)
  return namesOf(provider).map(each =>
    each === provider.secret ? { name: each, value: null, masked } : { name: each, value: plain[each] ?? null, masked: null },
  )
}

const isPerson = ({ kind, userId }: Viewer): boolean => kind === 'user' && userId !== null

/** @throws FORBIDDEN unless the viewer administers the platform */
export function requirePlatformReader(viewer: Viewer): void {
  if (isPerson(viewer) && viewer.roles.some(role => platformReaders.includes(role))) return
  throw new DomainError(
    'FORBIDDEN',
    'Credentials of the platform are shown to its admins alone: switch to the organization "admin", or ask for level ORGANIZATION.',
  )
}

/** @throws FORBIDDEN unless the viewer is a super admin of the platform, in its organization */
export function requirePlatformChanger(viewer: Viewer): void {
  if (isPerson(viewer) && viewer.roles.includes('platform_super_admin')) return
  throw new DomainError('FORBIDDEN', 'Credentials of the platform are changed by its super admins alone, in the organization "admin": ask one of them.')
}
