import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import type { CredentialStatus, Level, OpenCredentials } from '../../stores/credential/credential.ts'
import type { ProviderName } from './catalogue.ts'

/** A credential as a call is made with it. */
export interface CredentialInUse {
  readonly id: string
  readonly level: Level
  readonly provider: ProviderName
  readonly name: string
  /** Where a custom provider is called, without a slash at the end; null for the others. */
  readonly baseUrl: string | null
  /** The fields that are no secret, by name. */
  readonly plain: Readonly<Record<string, string>>
  /**
   * The secret, and while its grace lasts the one before: that one is for a second attempt where the first was refused (401). The property
   * is not enumerable, so that a credential may come into a log or an answer without it.
   */
  readonly secrets: readonly [current: string, previous?: string]
}

/** What third parties are called with, as it stands at this moment, whichever process has changed it. */
export interface CredentialsInUse {
  /**
   * What an organization's calls of a provider are made with: its own credential, else the platform's; null for none.
   * @param organizationId null for the platform's alone
   * @param customName of `custom`, which one
   * @param mark how the credentials of both stand, for who has just read that: it spares reading them again where they are as they were
   * @throws when its secret was sealed with a key that is not configured
   */
  resolve(provider: ProviderName, organizationId: string | null, customName?: string, mark?: string): Promise<CredentialInUse | null>
  /**
   * Notes how a call with one of its secrets fared: `refused` is for the provider's 401 or 403. Nobody waits for it, and it never fails;
   * what changes nothing is written once a minute at most. How an old secret fares says nothing of the credential.
   * @param secret with which the call was made
   * @param message what the provider said; secrets in it are not kept
   */
  note(credential: CredentialInUse, secret: string, outcome: 'taken' | 'refused', message?: string): void
  /** Forgets what is remembered: a credential was changed. */
  forget(): void
  /** Resolves when everything that was noted is written. */
  settled(): Promise<void>
}

/** How long what was found is used, in ms. */
const freshMs = 1_000
/** How often a use that changes nothing is written, in ms. */
const noteEveryMs = 60_000
/** What is remembered at most, of each kind. */
const most = 10_000

/** What a secret was kept as when it was read, and how the credential fared then. */
interface Read {
  readonly sealed: string
  readonly status: CredentialStatus
}

/** What is to be written of a call. */
export interface Noted {
  readonly id: string
  /** What the secret was kept as that the call was made with. */
  readonly sealed: string
  /** How the credential fares; null: that is not known by it. */
  readonly status: 'WORKING' | 'FAILING' | null
  readonly message: string | null
}

export interface InUseOptions {
  readonly credentials: () => Pick<OpenCredentials, 'inUse' | 'open' | 'openPrevious'>
  write(noted: Noted): Promise<void>
  readonly clock: Clock
  readonly log: Logger
  /** Whether no other process changes them: then what was found is used again without a mark. */
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

/** Without the secret before, the present one still does. */
function opened(open: () => string): string | null {
  try {
    return open()
  } catch {
    return null
  }
}

/** How much is kept of what a provider said, in characters. */
const longestMessage = 500

/** What a provider said, as it may be shown: on one line, and without a secret that it repeats. */
export function withoutSecrets(message: string, secrets: readonly (string | null | undefined)[]): string {
  const kept = secrets.reduce<string>((text, secret) => (secret ? text.replaceAll(secret, '••••') : text), message)
  return [...kept.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()].slice(0, longestMessage).join('')
}
