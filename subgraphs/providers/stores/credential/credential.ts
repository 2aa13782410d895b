import type { Transaction } from 'sequelize'
import type { Cipher } from '../../../../platform/cipher.ts'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { oldestFirst } from '../../../store/filter/filters.ts'
import type { SealedColumn } from '../../../store/sealed.ts'
import { type Rows, store } from '../../../store/store.ts'

export type Level = 'ORGANIZATION' | 'PLATFORM'
export type CredentialStatus = 'UNTESTED' | 'WORKING' | 'FAILING' | 'DISABLED'

/** Credentials of organizations and of the platform. */
export const credentials = table('providers.credentials', {
  id: uuid.key,
  level: text.of<Level>(),
  /** Organization; null for the platform's own. */
  organizationId: uuid.maybe,
  provider: text,
  name: text,
  /** The fields that are no secret, by name. */
  plain: json.of<Readonly<Record<string, string>>>(),
  /** Encrypted secret. */
  secret: text,
  masked: text,
  /** Encrypted former secret, until its grace period ends. */
  previousSecret: text.maybe,
  baseUrl: text.maybe,
  status: text.of<CredentialStatus>().or('UNTESTED'),
  testedAt: moment.maybe,
  testMessage: text.maybe,
  lastUsedAt: moment.maybe,
  rotatedAt: moment.maybe,
  graceEndsAt: moment.maybe,
  ...stamps,
})

export type CredentialRow = Row<typeof credentials>

/** Roles that may see the platform's credentials. */
export const platformReaders: readonly string[] = ['platform_admin', 'platform_super_admin']

const columns = selectList(credentials, 'c')

/** Condition for the platform's rows `t`, for administrators. */
const isSeenPlatforms = `t.organization_id is null and :roles::text[] && array[${platformReaders.map(role => `'${role}'`).join(', ')}]`

/** Condition for rows `t` of the viewer's organization or the platform. */
export const ownOrPlatforms = `t.organization_id = :organization or (${isSeenPlatforms})`

/** Condition for visible rows of one level. */
export const ofLevel = (level: Level): string => (level === 'PLATFORM' ? isSeenPlatforms : 't.organization_id = :organization')

const levelOf = statement('select level from providers.credentials where id = $1')
const inUse = statement(
  `select ${columns} from providers.credentials c
    where c.provider = $1 and (c.organization_id = $2::uuid or c.organization_id is null) and ($1 <> 'custom' or $3::text is null or c.name = $3)
      and c.status <> 'DISABLED'
    order by c.organization_id nulls last, c.created_at, c.id limit 1`,
)
const forgetPrevious = statement(
  `update providers.credentials set previous_secret = null where id in (
     select id from providers.credentials where previous_secret is not null and grace_ends_at <= $1
      order by grace_ends_at limit 1000 for no key update skip locked)`,
)
const lockOwner = transactionLock('providers.credentials')
const countOf = statement(
  `select count(*)::int as "inAll", count(*) filter (where c.provider = $2 and ($2 <> 'custom' or c.name = $3) and c.id is distinct from $4::uuid)::int as alike
     from providers.credentials c where c.organization_id is not distinct from $1::uuid`,
)

/** Owner and provider of a new credential. */
export type Owned = Pick<CredentialRow, 'organizationId' | 'provider' | 'name'>

const place = (id: string) => `providers.credential:${id}:secret`
const placeOfPrevious = (id: string) => `providers.credential:${id}:previous-secret`

/** Columns of encrypted secrets. */
export const sealedSecrets: readonly SealedColumn[] = [
  { table: credentials.name, key: 'id', column: 'secret', about: place },
  { table: credentials.name, key: 'id', column: 'previous_secret', about: placeOfPrevious },
]

/** Queries of credentials, and the only place where their secrets are encrypted and decrypted. */
function credentialSql(rows: Rows<typeof credentials>, cipher: Cipher) {
  return {
    /** Encrypts a secret. */
    seal: (id: string, secret: string): string => cipher.seal(secret, place(id)),

    /**
     * Decrypts the secret, for calls of the provider, never for an answer. @throws when it was encrypted with an
     * unknown key
     */
    open: ({ id, secret }: Pick<CredentialRow, 'id' | 'secret'>): string => cipher.open(secret, place(id)),

    /** The stored form of a former secret. */
    sealPrevious: (id: string, secret: string): string => cipher.seal(secret, placeOfPrevious(id)),

    /** Decrypts the former secret. @throws when it was encrypted with an unknown key */
    openPrevious: (id: string, sealed: string): string => cipher.open(sealed, placeOfPrevious(id)),

    /**
     * Returns the credential for calls of a provider: the organization's own, else the platform's; never an inactive
     * one. Of custom providers the named one, or else the oldest. Reads without a check of the viewer.
     */
    async inUse(provider: string, organizationId: string | null, name: string | null): Promise<CredentialRow | null> {
      const [found] = await rows.read(inUse, [provider, organizationId, name])
      return found ?? null
    },

    /** Deletes former secrets after their grace period, a bounded number at once. */
    forgetPrevious: (now: Date) => rows.read(forgetPrevious, [now]),

    /** The level of a credential, without a check of the viewer; null if unknown. */
    async levelOf(id: string): Promise<Level | null> {
      const [found] = await rows.read<{ level: Level }>(levelOf, [id])
      return found?.level ?? null
    },

    /**
     * Counts an owner's credentials, and those in conflict with this one. Nobody creates another one for the owner
     * before the transaction ends.
     * @param except the credential itself
     */
    async ofOwner(
      { organizationId, provider, name }: Owned,
      transaction: Transaction,
      except: string | null = null,
    ): Promise<{ readonly inAll: number; readonly alike: number }> {
      await rows.read(lockOwner, [organizationId ?? 'platform'], transaction)
      const [found] = await rows.read<{ inAll: number; alike: number }>(countOf, [organizationId, provider, name, except], transaction)
      return found!
    },
  }
}

/** An organization sees its own credentials, and platform administrators the platform's as well. */
export const credentialStore = (cipher: Cipher) =>
  store(
    credentials,
    {
      what: 'credential',
      tenancy: { where: ownOrPlatforms },
      filters: { level: ofLevel, provider: 'any' },
      sorted: oldestFirst,
      lists: { all: { below: 'organizationId', order: 'oldest first' } },
    },
    rows => credentialSql(rows, cipher),
  )

export type OpenCredentials = ReturnType<ReturnType<typeof credentialStore>['open']>
