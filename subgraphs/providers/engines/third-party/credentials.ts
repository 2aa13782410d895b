import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import type { CredentialStatus, Level, OpenCredentials } from '../../stores/credential/credential.ts'
import type { ProviderName } from './catalogue.ts'

/** A credential for a call. */
export interface CredentialInUse {
  readonly id: string
  readonly level: Level
  readonly provider: ProviderName
  readonly name: string
  /** Address of a custom provider, without a trailing slash; null for others. */
  readonly baseUrl: string | null
  /** The fields that are no secret, by name. */
  readonly plain: Readonly<Record<string, string>>
  /**
   * The secret, and during its grace period the former one, for a second attempt after a 401. The property is not
   * enumerable, so that logging or answering a credential omits it.
   */
  readonly secrets: readonly [current: string, previous?: string]
}

/** Credentials for third parties in their present state, whichever process has changed them. */
export interface CredentialsInUse {
  /**
   * Returns the credential for an organization's calls of a provider: its own, else the platform's; null for none.
   * @param organizationId null for the platform's own
   * @param customName which `custom` one
   * @param mark state of both credentials, if just read, which avoids reading unchanged ones again
   * @throws when its secret was encrypted with an unknown key
   */
  resolve(provider: ProviderName, organizationId: string | null, customName?: string, mark?: string): Promise<CredentialInUse | null>
  /**
   * Reports the result of a call with one of its secrets: `refused` for the provider's 401 or 403. Nobody waits for it,
   * and it never fails; an unchanged status is written once a minute at most. Results of a former secret do not change
   * the status.
   * @param secret used for the call
   * @param message of the provider; secrets are removed from it
   */
  note(credential: CredentialInUse, secret: string, outcome: 'taken' | 'refused', message?: string): void
  /** Clears the cache after a change of a credential. */
  forget(): void
  /** Resolves when all reports are stored. */
  settled(): Promise<void>
}

/** Time in ms for which results are cached. */
const freshMs = 1_000
/** Interval in ms at which an unchanged use is stored. */
const noteEveryMs = 60_000
/** Maximum cached entries, of each kind. */
const most = 10_000

/** A secret's ciphertext when it was read, and the credential's status then. */
interface Read {
  readonly sealed: string
  readonly status: CredentialStatus
}

/** A report to be stored. */
export interface Noted {
  readonly id: string
  /** Ciphertext of the secret used for the call. */
  readonly sealed: string
  /** Status of the credential; null if unknown. */
  readonly status: 'WORKING' | 'FAILING' | null
  readonly message: string | null
}

export interface InUseOptions {
  readonly credentials: () => Pick<OpenCredentials, 'inUse' | 'open' | 'openPrevious'>
  write(noted: Noted): Promise<void>
  readonly clock: Clock
  readonly log: Logger
  /** Whether no other process changes credentials: then cached ones are used without a mark. */
  readonly isAlone: boolean
}

export function openCredentialsInUse({ credentials: open, write, clock, log, isAlone }: InUseOptions): CredentialsInUse {
  const found = new LRUCache<string, { readonly credential: Promise<CredentialInUse | null>; readonly at: number; readonly mark: string | undefined }>({
    max: most,
  })
  const read = new WeakMap<CredentialInUse, Read>()
  const noted = new LRUCache<string, { readonly status: CredentialStatus; readonly at: number }>({ max: most })
  const writing = new Set<Promise<void>>()

  const look = async (provider: ProviderName, organizationId: string | null, name: string | null): Promise<CredentialInUse | null> => {
    const credentials = open()
    const row = await credentials.inUse(provider, organizationId, name)
    if (!row) return null
    const inGrace = row.previousSecret !== null && row.graceEndsAt !== null && row.graceEndsAt > clock.now()
    const previous = inGrace ? opened(() => credentials.openPrevious(row.id, row.previousSecret!)) : null
    const secrets = previous === null ? [credentials.open(row)] : [credentials.open(row), previous]
    const credential = { id: row.id, level: row.level, provider, name: row.name, baseUrl: row.baseUrl, plain: row.plain } as CredentialInUse
    Object.defineProperty(credential, 'secrets', { value: secrets, enumerable: false })
    read.set(credential, { sealed: row.secret, status: row.status })
    return credential
  }

  return {
    resolve(provider, organizationId, customName, mark) {
      const key = JSON.stringify([provider, organizationId, customName ?? null])
      const now = clock.now().getTime()
      const known = found.get(key)
      const isSame = isAlone || (mark !== undefined && known?.mark === mark)
      if (known && isSame && known.at <= now && now < known.at + freshMs) return known.credential
      const credential = look(provider, organizationId, customName ?? null)
      found.set(key, { credential, at: now, mark })
      // A failed read is not cached.
      credential.catch(() => found.get(key)?.credential === credential && found.delete(key))
      return credential
    },
    note(credential, secret, outcome, message) {
      const isCurrent = secret === credential.secrets[0]
      if (!isCurrent && outcome === 'refused') return
      const wanted = isCurrent ? (outcome === 'taken' ? 'WORKING' : 'FAILING') : null
      const now = clock.now().getTime()
      const before = noted.get(credential.id)
      const status = wanted ?? before?.status ?? 'UNTESTED'
      const isNews = wanted !== null && read.get(credential)?.status !== wanted && (before?.status !== wanted || now >= before.at + freshMs)
      if (!isNews && before && before.at <= now && now < before.at + noteEveryMs) return
      noted.set(credential.id, { status, at: now })
      const said = message === undefined ? null : withoutSecrets(message, credential.secrets)
      const written = write({ id: credential.id, sealed: read.get(credential)?.sealed ?? '', status: wanted, message: said }).catch(error => {
        noted.delete(credential.id)
        log.warn({ err: error, credential: credential.id }, 'last use of a credential could not be stored')
      })
      writing.add(written)
      void written.finally(() => writing.delete(written))
    },
    forget() {
      found.clear()
      noted.clear()
    },
    settled: async () => void (await Promise.all(writing)),
  }
}

/** Decrypts a former secret; null when that fails, because the present one still works. */
function opened(open: () => string): string | null {
  try {
    return open()
  } catch {
    return null
  }
}

/** Maximum stored characters of a provider's message. */
const longestMessage = 500

/** Returns a provider's message for display: on one line, without secrets that it repeats. */
export function withoutSecrets(message: string, secrets: readonly (string | null | undefined)[]): string {
  const kept = secrets.reduce<string>((text, secret) => (secret ? text.replaceAll(secret, '••••') : text), message)
  return [...kept.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()].slice(0, longestMessage).join('')
}
