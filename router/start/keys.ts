import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AppTokens } from '../../config/readers.ts'
import type { DedicatedToken } from '../../config/services.ts'
import type { Config, NamedKey } from '../../config.ts'
import { StartError } from '../../start-error.ts'
import type { ServiceTokens } from '../access/callers/services.ts'
import { listedSlugs } from './registry.ts'

/** The secrets that the platform keeps for itself. */
export interface Keys {
  readonly authSecret: string
  readonly encryptionKeys: readonly [NamedKey, ...NamedKey[]]
}

/**
 * Returns the configured secrets; missing ones are generated once into `keys.json` of the data folder (mode 0600).
 * @throws StartError when that file cannot be read: new keys in its place would make encrypted data unreadable
 */
export function openKeys(config: Pick<Config, 'dataDir' | 'authSecret' | 'encryptionKeys'>): Keys {
  if (config.authSecret && config.encryptionKeys) return { authSecret: config.authSecret, encryptionKeys: config.encryptionKeys }
  const stored = readOrGenerate(join(config.dataDir, 'keys.json'))
  return {
    authSecret: config.authSecret ?? stored.authSecret,
    encryptionKeys: config.encryptionKeys ?? [{ id: 'generated', key: Buffer.from(stored.encryptionKey, 'base64') }],
  }
}

function readOrGenerate(file: string): { authSecret: string; encryptionKey: string } {
  try {
    const { authSecret, encryptionKey } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    const whole =
      typeof authSecret === 'string' && authSecret.length >= 32 && typeof encryptionKey === 'string' && Buffer.from(encryptionKey, 'base64').length === 32
    if (whole) return { authSecret, encryptionKey }
    throw new StartError(`${file} is not what was written there: restore it from a backup; without it stored tokens cannot be read`)
  } catch (error) {
    if (error instanceof StartError) throw error
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new StartError(
        `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'it is damaged'}): restore it from a backup; without it stored tokens cannot be read`,
        error,
      )
  }
  const keys = { authSecret: randomBytes(32).toString('base64url'), encryptionKey: randomBytes(32).toString('base64') }
  writeFileSync(`${file}.new`, JSON.stringify(keys), { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return keys
}

/**
 * Returns the service tokens by app: the configured ones; else one for each service, generated once into
 * `service-tokens.json` of the data folder (mode 0600).
 * @param generates whether missing tokens are generated @default in development
 * @throws StartError when that file cannot be read
 */
export function openAppTokens(
  { seal, dataDir, environment }: Pick<Config, 'seal' | 'dataDir' | 'environment'>,
  generates = environment === 'development',
): AppTokens {
  if (seal.appTokens) return seal.appTokens
  const apps = listedSlugs.map(slug => `app_${slug}`)
  return new Map(generates ? Object.entries(tokensIn(join(dataDir, 'service-tokens.json'), apps)).map(([app, token]) => [app, [token]]) : [])
}

/** Variables that hold tokens for trying the gateway to providers, and settlement at payments. */
const trialTokens = ['PROVIDERS_SERVICE_TOKEN', 'TRUSTED_SERVICE_TOKENS', 'SUPPORT_PROVIDERS_SERVICE_TOKEN', 'SETTLEMENT_PAYMENTS_SERVICE_TOKEN'] as const

/** Tokens from those variables. */
export type TrialTokens = Readonly<Record<(typeof trialTokens)[number], string>>

/**
 * Returns the tokens for trying the gateway to providers: the first of the configured ones; in development else one
 * each, generated once into `gateway-tokens.json` of the data folder (mode 0600). Null where any of them is missing.
 * @throws StartError when that file cannot be read
 */
export function openTrialTokens({
  callers: { primary, staged, dedicated },
  dataDir,
  environment,
  demo,
}: Pick<Config, 'callers' | 'dataDir' | 'environment' | 'demo'>): TrialTokens | null {
  const configured: Readonly<Record<keyof TrialTokens, string | undefined>> = {
    PROVIDERS_SERVICE_TOKEN: primary ?? undefined,
    TRUSTED_SERVICE_TOKENS: staged[0],
    SUPPORT_PROVIDERS_SERVICE_TOKEN: dedicated.find(({ appId, at }) => appId === 'app_support' && at === 'providers')?.token,
    SETTLEMENT_PAYMENTS_SERVICE_TOKEN: dedicated.find(({ appId, at }) => appId === 'app_settlement' && at === 'payments')?.token,
  }
  const missing = trialTokens.filter(name => configured[name] === undefined)
  if (missing.length > 0 && (environment !== 'development' || !demo)) return null
  const made = missing.length > 0 ? tokensIn(join(dataDir, 'gateway-tokens.json'), trialTokens) : {}
  return Object.fromEntries(trialTokens.map(name => [name, configured[name] ?? made[name]])) as unknown as TrialTokens
}

function tokensIn(file: string, names: readonly string[]): Readonly<Record<string, string>> {
  let kept: Record<string, unknown> = {}
  try {
    kept = Object(JSON.parse(readFileSync(file, 'utf8'))) as Record<string, unknown>
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new StartError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'it is damaged'}): remove it, and new tokens are made`, error)
  }
  const whole = (token: unknown): token is string => typeof token === 'string' && token.length >= 32
  const tokens = Object.fromEntries(names.map(name => [name, whole(kept[name]) ? kept[name] : randomBytes(32).toString('base64url')]))
  if (names.every(name => kept[name] === tokens[name])) return tokens
  writeFileSync(`${file}.new`, JSON.stringify(tokens), { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return tokens
}

/** Returns all tokens that are valid for services here. */
export function serviceTokens(
  { callers: { primary, staged, dedicated } }: Pick<Config, 'callers'>,
  own: AppTokens | null,
  trial: TrialTokens | null = null,
): ServiceTokens {
  const gateway = new Set([primary, ...staged, trial?.PROVIDERS_SERVICE_TOKEN, trial?.TRUSTED_SERVICE_TOKENS].filter(token => token != null))
  const tried: readonly DedicatedToken[] = trial
    ? [
        { appId: 'app_support', at: 'providers', token: trial.SUPPORT_PROVIDERS_SERVICE_TOKEN },
        { appId: 'app_settlement', at: 'payments', token: trial.SETTLEMENT_PAYMENTS_SERVICE_TOKEN },
      ]
    : []
  const isThere = (one: DedicatedToken) => dedicated.some(({ appId, at, token }) => one.appId === appId && one.at === at && one.token === token)
  return { own: own ?? new Map(), gateway: [...gateway], dedicated: [...dedicated, ...tried.filter(each => !isThere(each))] }
}
