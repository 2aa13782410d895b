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

/** What providers are called with, by organizations and by the platform. */
export const credentials = table('providers.credentials', {
  id: uuid.key,
  level: text.of<Level>(),
  /** Null for the platform's own. */
  organizationId: uuid.maybe,
  provider: text,
  name: text,
  /** The fields that are no secret, by name. */
  plain: json.of<Readonly<Record<string, string>>>(),
  /** Sealed. */
  secret: text,
  masked: text,
  /** Sealed: the secret before, until its grace ends. */
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

/** Roles whose holders see the credentials of the platform. */
export const platformReaders: readonly string[] = ['platform_admin', 'platform_super_admin']

const columns = selectList(credentials, 'c')

/** Rows `t` of the platform's own, in SQL, for who administers it. */
const isSeenPlatforms = `t.organization_id is null and :roles::text[] && array[${platformReaders.map(role => `'${role}'`).join(', ')}]`

/** Under which condition a viewer sees a row `t` of an organization's or the platform's own. */
export const ownOrPlatforms = `t.organization_id = :organization or (${isSeenPlatforms})`

/** Of what a viewer sees, rows of one level. */
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

/** Whose a new credential is, and for what. */
export type Owned = Pick<CredentialRow, 'organizationId' | 'provider' | 'name'>

const place = (id: string) => `providers.credential:${id}:secret`
const placeOfPrevious = (id: string) => `providers.credential:${id}:previous-secret`

/** The secrets of credentials as they are kept. */
export const sealedSecrets: readonly SealedColumn[] = [
  { table: credentials.name, key: 'id', column: 'secret', about: place },
  { table: credentials.name, key: 'id', column: 'previous_secret', about: placeOfPrevious },
]

/** What only credentials are asked, and the only place where their secrets are sealed and opened. */
function credentialSql(rows: Rows<typeof credentials>, cipher: Cipher) {
  return {
    /** What a secret is kept as. */
    seal: (id: string, secret: string): string => cipher.seal(secret, place(id)),

    /** The secret in clear text: for whoever calls the provider, never for an answer. @throws when it was sealed with a key that is not configured */
    open: ({ id, secret }: Pick<CredentialRow, 'id' | 'secret'>): string => cipher.open(secret, place(id)),

    /** The stored form of a former secret. */
    sealPrevious: (id: string, secret: string): string => cipher.seal(secret, placeOfPrevious(id)),

    /** The secret before in clear text. @throws when it was sealed with a key that is not configured */
    openPrevious: (id: string, sealed: string): string => cipher.open(sealed, placeOfPrevious(id)),

    /**
     * What calls of a provider are made with: the organization's own, else the platform's; never one out of use. Of custom providers the one
     * of a name, or without one the oldest. Reads without a check of the viewer.
     */
    async inUse(provider: string, organizationId: string | null, name: string | null): Promise<CredentialRow | null> {
      const [found] = await rows.read(inUse, [provider, organizationId, name])
      return found ?? null
    },

    /** Forgets secrets whose grace is over, a bounded number at once. */
    forgetPrevious: (now: Date) => rows.read(forgetPrevious, [now]),

    /** The level of a credential, without a check of the viewer; null if unknown. */
    async levelOf(id: string): Promise<Level | null> {
      const [found] = await rows.read<{ level: Level }>(levelOf, [id])
      return found?.level ?? null
    },

    /**
     * How many an owner has, and how many of them stand where this one would. Nobody makes another one for the owner before the transaction ends.
     * @param except the one that is to stand there
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

/** An organization sees its own, and whoever administers the platform the platform's besides. */
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
