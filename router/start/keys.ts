import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config, NamedKey } from '../../config.ts'
import { StartError } from '../../start-error.ts'

/** The secrets that the platform keeps for itself. */
export interface Keys {
  readonly authSecret: string
  readonly encryptionKeys: readonly [NamedKey, ...NamedKey[]]
}

/**
 * The configured secrets; what is not configured is generated once into `keys.json` of the data folder (mode 0600).
 * @throws StartError when that file cannot be read: new keys in its place would make what is encrypted unreadable
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
