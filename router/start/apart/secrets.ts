import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gatewayToken, isServiceToken } from '../../../config/services.ts'
import type { Config } from '../../../config.ts'
import { StartError } from '../../../start-error.ts'
import { publicHalf } from '../../engine/transport/seal.ts'
import { openAppTokens, openKeys, openTrialTokens } from '../keys.ts'
import type { ListedSlug } from '../registry.ts'

/** Secrets shared by the processes of one machine, as variables of their environments. */
export interface SharedSecrets {
  /** Secrets of a subgraph: those of all subgraphs, and its own. */
  readonly subgraph: (slug: ListedSlug) => Readonly<Record<string, string>>
  readonly router: Readonly<Record<string, string>>
  /** Secrets for creating demo data. */
  readonly demo: Readonly<Record<string, string>>
  /** Token for the NATS server that is started for the processes. */
  readonly natsToken: string
}

/**
 * Opens the secrets of distributed mode: configured ones, and others that are generated once into the data folder.
 * @throws StartError when the generated file cannot be read
 */
export function openSharedSecrets(config: Config): SharedSecrets {
  const { authSecret, encryptionKeys } = openKeys(config)
  const { sealKey, natsToken } = readOrGenerate(join(config.dataDir, 'apart-keys.json'))
  const seal = config.seal.privateKey ?? { id: 'generated', key: Buffer.from(sealKey, 'base64') }
  const written = ({ id, key }: { readonly id: string; readonly key: Buffer }) => `${id}:${key.toString('base64')}`
  // Separate processes need it: their jobs call other services with it.
  const own = openAppTokens(config, true)
  const tokens = [...own].flatMap(([app, list]) => list.map(token => [app, token] as const))
  const trial = openTrialTokens(config)
  const given = Object.entries({ ...trial, ...config.environmentVariables })
  const others = given.filter(([name, value]) => isServiceToken(name) && value) as readonly (readonly [string, string])[]
  const pairs = (some: typeof tokens) => some.map(pair => pair.join(':')).join()
  return {
    subgraph: slug => ({
      APP_SERVICE_TOKENS: pairs(tokens.filter(([app]) => app === `app_${slug}`)),
      ...Object.fromEntries(others.filter(([name]) => name.startsWith(`${slug.toUpperCase()}_`) && name !== gatewayToken)),
      AUTH_SECRET: authSecret,
      ENCRYPTION_KEYS: encryptionKeys.map(written).join(),
      SEAL_PUBLIC_KEYS: [publicHalf(seal), ...(config.seal.publicKeys ?? [])].map(written).join(),
    }),
    router: { APP_SERVICE_TOKENS: pairs(tokens), ...Object.fromEntries(others), SEAL_PRIVATE_KEY: written(seal) },
    demo: { APP_SERVICE_TOKENS: pairs(tokens), ...trial },
    natsToken,
  }
}

function readOrGenerate(file: string): { readonly sealKey: string; readonly natsToken: string } {
  try {
    const { sealKey, natsToken } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    if (typeof sealKey === 'string' && Buffer.from(sealKey, 'base64').length === 32 && typeof natsToken === 'string') return { sealKey, natsToken }
    throw new SyntaxError('it is not what was written there')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new StartError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'it is damaged'}): remove it, and new keys are made`, error)
  }
  const keys = { sealKey: randomBytes(32).toString('base64'), natsToken: randomBytes(24).toString('base64url') }
  writeFileSync(`${file}.new`, JSON.stringify(keys), { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return keys
}
