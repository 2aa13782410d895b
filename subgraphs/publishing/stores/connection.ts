import type { Transaction } from 'sequelize'
import type { Cipher } from '../../../platform/cipher.ts'
import { newId } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { integer, json, modelOf, moment, type Row, selectList, stamps, table, text, texts, truth, uuid } from '../../../platform/sql/table.ts'
import type { SealedColumn } from '../../store/sealed.ts'
import { type Rows, type StoreContext, store } from '../../store/store.ts'
import { type ConnectionHealth, healthOf, type KeptPlace, keptPlaces, placeKey } from '../network/account/account.ts'
import { type Grant, GrantFailure, type Platform } from '../network/network.ts'
import type { Account, Place, RateLimit } from '../network/publication.ts'
import { brands } from './brand.ts'

/** Authorizations of brands at accounts of networks. Tokens are stored encrypted. */
export const connections = table('publishing.connections', {
  brandId: uuid.key,
  id: uuid.key,
  platform: text.of<Platform>(),
  authorId: uuid,
  active: truth.or(true),
  externalAccountId: text,
  accountName: text,
  scopes: texts.or([]),
  metadata: json.of<Record<string, unknown>>().or({}),
  accessToken: text.maybe,
  refreshToken: text.maybe,
  tokenExpiresAt: moment.maybe,
  /** When the access token was issued; null for a row of an earlier version of the program. */
  renewedAt: moment.maybe,
  connectedAt: moment,
  /** The worker that renews the tokens, and the end of its claim; both null without one. */
  renewalId: uuid.maybe,
  renewalUntil: moment.maybe,
  /**
   * Counter that increases while the worker that renews the token is alive; 0 in a claim of a program that does not
   * count.
   */
  renewalBeats: integer.or(0),
  deactivatedReason: text.maybe,
  /** Whether the person who authorized the connection has since left the organization. */
  orphaned: truth.or(false),
  health: text.of<ConnectionHealth>().or('HEALTHY'),
  /** When renewal begins to require a person; null where the network does not say. */
  reconnectBefore: moment.maybe,
  avatarUrl: text.maybe,
  targets: json.of<readonly KeptPlace[]>().or([]),
  /** Encrypted tokens of single places, by `kind:externalId`. */
  placeTokens: text.maybe,
  /** The account's rate limit, as last reported by the network. */
  rateLimit: json.of<KeptRateLimit>().maybe,
  lastCheckedAt: moment.maybe,
  ...stamps,
})

/** A stored rate limit: times are JSON strings, and earlier versions of the program stored no `answeredAt`. */
export type KeptRateLimit = Omit<RateLimit, 'resetsAt'> & { readonly resetsAt: string | null; readonly answeredAt?: string }

export type ConnectionRow = Row<typeof connections>

/** A person's authorization of an account for a brand. */
export interface Authorized {
  readonly brandId: string
  readonly platform: Platform
  readonly userId: string
  readonly account: Account
  readonly grant: Grant
  /** Readiness of the network's setup at that time. @default PRODUCTION_READY */
  readonly readiness?: 'PRODUCTION_READY' | 'SANDBOX_ONLY'
  readonly now: Date
}

/** Times up to which connections are due for renewal, notification or a check. */
export interface Due {
  readonly now: Date
  /** Connections that only a person can renew before this time are reported. */
  readonly expiring: Date
  /** Tokens that expire before this time are extended, where the network can. */
  readonly ending: Date
  /** Connections that were checked after this time are skipped. */
  readonly checked: Date
}

/** Tokens in clear text: passed to an adapter, never stored. */
export interface OpenTokens {
  readonly accessToken: string
  readonly refreshToken: string | null
  /** Tokens of single places, by `kind:externalId`. */
  readonly placeTokens: Readonly<Record<string, string>>
}

const noRenewal = { renewalId: null, renewalUntil: null, renewalBeats: 0 } as const

/** Changes that deactivate a connection and erase its tokens. The row stays, so that people see what to authorize again. */
export const disconnected = (reason: string) =>
  ({
    active: false,
    deactivatedReason: reason,
    accessToken: null,
    refreshToken: null,
    placeTokens: null,
    tokenExpiresAt: null,
    health: 'NEEDS_RECONNECT',
    ...noRenewal,
  }) as const

const orphan = statement(
  `update publishing.connections c set orphaned = true, version = c.version + 1
     from publishing.brands b where b.id = c.brand_id and b.organization_id = $1 and c.author_id = $2 and not c.orphaned`,
)
const keepLimit = statement(
  `update publishing.connections set rate_limit = jsonb_build_object('limit', $3::int, 'remaining', $4::int, 'resetsAt', $5::text, 'answeredAt', $6::text)
   where brand_id = $1 and id = $2 and (rate_limit ->> 'answeredAt' is null or (rate_limit ->> 'answeredAt')::timestamptz < $6::timestamptz
     or ((rate_limit ->> 'answeredAt')::timestamptz = $6::timestamptz
       and (rate_limit ->> 'resetsAt' is distinct from $5::text or (rate_limit ->> 'remaining')::int > $4::int)))`,
)
const lockBrand = transactionLock('publishing.connections')
const countOfBrand = statement('select count(*)::int as count from publishing.connections where brand_id = $1')

/** Maximum stored scopes of a grant: no network has as many. */
export const mostScopes = 20

/** Maximum connections of a brand, inactive ones included: `Brand.connections` is not paged. */
export const mostConnections = 50

const columns = selectList(connections, 'c')

const changed = statement(
  `select ${columns} from publishing.brands b join publishing.connections c on c.brand_id = b.id
   where b.organization_id = $1 and c.updated_at >= $2 order by c.updated_at desc limit 500`,
)
const ofOrganization = statement(
  `select ${columns} from publishing.brands b join publishing.connections c on c.brand_id = b.id
   where b.organization_id = $1 and b.archived_at is null order by c.connected_at desc, c.id desc limit 2000`,
)
const heldOfBrand = statement(`select ${columns} from publishing.connections c where c.brand_id = $1 order by c.id for no key update`)
const othersOfAccount = statement(
  `select exists (select 1 from publishing.connections c where c.platform = $1 and c.external_account_id = $2 and c.active and c.id <> $3) as there`,
)
// Each part of the union uses its own index; several parts may find the same connection.
const due = statement(
  `select ${columns} from publishing.connections c where (c.brand_id, c.id) in (
     (select brand_id, id from publishing.connections where active and reconnect_before <= $2 and health = 'HEALTHY' order by reconnect_before limit $5)
     union (select brand_id, id from publishing.connections where active and reconnect_before <= $1
       and (last_checked_at is null or last_checked_at <= $4) order by reconnect_before limit $5)
     union (select brand_id, id from publishing.connections where active and token_expires_at <= $3 and platform in ('INSTAGRAM', 'THREADS')
       and (last_checked_at is null or last_checked_at <= $4) order by token_expires_at limit $5))`,
)

const place = (id: string, which: 'access' | 'refresh' | 'places') => `publishing.connection:${id}:${which}`

/** Columns that hold encrypted tokens. */
export const sealedTokens: readonly SealedColumn[] = (
  [
    ['access', 'access_token'],
    ['refresh', 'refresh_token'],
    ['places', 'place_tokens'],
  ] as const
).map(([which, column]) => ({ table: connections.name, key: 'id', column, about: id => place(id, which) }))

/** Encrypts and decrypts the tokens of connections; no other code does. */
function sealing(cipher: Cipher) {
  /** Returns the changes of a row by a grant. If the network issues no new refresh token, the old one stays valid. */
  const sealed = (id: string, grant: Grant, now: Date) => ({
    accessToken: cipher.seal(grant.accessToken, place(id, 'access')),
    ...(grant.refreshToken && { refreshToken: cipher.seal(grant.refreshToken, place(id, 'refresh')) }),
    tokenExpiresAt: grant.expiresIn === null ? null : new Date(now.getTime() + grant.expiresIn * 1000),
    active: true,
    deactivatedReason: null,
    ...(grant.reconnectIn !== undefined && { reconnectBefore: new Date(now.getTime() + grant.reconnectIn * 1000) }),
    ...noRenewal,
    renewedAt: now,
    updatedAt: now,
  })

  const sealedPlaces = (id: string, places: readonly Place[]): string | null => {
    const tokens = places.flatMap(one => (one.accessToken === null ? [] : [[placeKey(one), one.accessToken]]))
    return tokens.length === 0 ? null : cipher.seal(JSON.stringify(Object.fromEntries(tokens)), place(id, 'places'))
  }

  /** Returns the columns that describe an account. Its targets keep what people chose before. */
  const described = (row: Pick<ConnectionRow, 'id' | 'targets'>, { name, avatarUrl = null, places = [] }: Account) => ({
    accountName: name,
    avatarUrl,
    targets: keptPlaces(places, row.targets),
    placeTokens: sealedPlaces(row.id, places),
  })

  return {
    sealed,
    described,

    /**
     * Decrypts the tokens of a row.
     * @throws GrantFailure, temporary, when their key is not configured: the operator can restore the key
     */
    open(row: Pick<ConnectionRow, 'id' | 'accessToken' | 'refreshToken'> & Partial<Pick<ConnectionRow, 'placeTokens'>>): OpenTokens {
      try {
        return {
          accessToken: row.accessToken ? cipher.open(row.accessToken, place(row.id, 'access')) : '',
          refreshToken: row.refreshToken ? cipher.open(row.refreshToken, place(row.id, 'refresh')) : null,
          placeTokens: row.placeTokens ? (JSON.parse(cipher.open(row.placeTokens, place(row.id, 'places'))) as Record<string, string>) : {},
        }
      } catch (error) {
        throw new GrantFailure('the platform cannot read the stored access: its encryption key is not configured', false, error)
      }
    },
  }
}

/** Returns the statements that only connections have. */
function connectionSql(rows: Rows<typeof connections>, { sequelize, viewer }: StoreContext, cipher: Cipher) {
  const Model = modelOf(sequelize, connections)

  const { sealed, described, open } = sealing(cipher)

  return {
    sealed,
    described,
    open,

    /** Marks connections whose author has left the organization. They continue to publish, and keep their tokens. */
    async orphan(organizationId: string, userId: string, transaction: Transaction): Promise<void> {
      await rows.read(orphan, [organizationId, userId], transaction)
    },

    /**
     * Stores an authorization: a new connection, or new tokens, author and time for the existing one of this account.
     * @throws CONFLICT, reason QUOTA, when the brand has the maximum number of connections
     */
    async authorize(
      { brandId, platform, userId, account, grant, readiness = 'PRODUCTION_READY', now }: Authorized,
      transaction: Transaction,
    ): Promise<{ before: ConnectionRow | null; after: ConnectionRow }> {
      const where = { brandId, platform, externalAccountId: account.externalId }
      await rows.read(lockBrand, [brandId], transaction)
      const present = (await Model.findOne({ where, raw: true, transaction })) as ConnectionRow | null
      const id = present?.id ?? newId(now)
      const tokens = { reconnectBefore: null, ...sealed(id, grant, now), lastCheckedAt: now, ...described({ id, targets: present?.targets ?? [] }, account) }
      const changes = {
        ...tokens,
        authorId: userId,
        orphaned: false,
        connectedAt: now,
        scopes: grant.scopes.slice(0, mostScopes),
        metadata: { ...present?.metadata, readiness, ...(account.scopedId && { scopedId: account.scopedId }) },
      }
      const health = healthOf({ ...changes, platform }, now)
      if (present) return { before: present, after: await rows.update(present, { ...changes, health, version: present.version + 1 }, transaction) }
      const [{ count: inAll } = { count: 0 }] = await rows.read<{ count: number }>(countOfBrand, [brandId], transaction)
      const most = { inAll: mostConnections, aDay: mostConnections }
      requireQuota({ inAll, today: 0, todaySince: null }, most, 'connections of this brand', 'authorize one of their accounts anew, or use another brand', now)
      const made = { refreshToken: null, ...changes, health, ...where, id, createdAt: now, createdBy: `user:${userId}` }
      return { before: null, after: await rows.insert(made, transaction) }
    },

    /**
     * Stores the rate limit that a network reports, unless a newer report is stored: a window may open earlier than an
     * older report said. Of reports of the same time, the one with less remaining counts. The version does not change.
     */
    async keepLimit({ brandId, id }: Pick<ConnectionRow, 'brandId' | 'id'>, { limit, remaining, resetsAt }: RateLimit, answeredAt: Date): Promise<void> {
      await rows.read(keepLimit, [brandId, id, limit, remaining, resetsAt?.toISOString() ?? null, answeredAt.toISOString()])
    },

    /** Returns the connections of an organization's active brands, the latest authorized first; at most 2,000. */
    ofOrganization: (organizationId: string) => rows.read(ofOrganization, [viewer ? viewer.organizationId : organizationId]),

    /** Returns the connections of an organization that have changed since a time; at most the last 500. */
    changedSince: (organizationId: string, since: Date) => rows.read(changed, [organizationId, since]),

    /** Locks and returns all connections of a brand, at most fifty. Posts are locked before connections. */
    holdOfBrand: (brandId: string, transaction: Transaction) => rows.read(heldOfBrand, [brandId], transaction),

    /** Whether another connection, of any brand, uses the same account. */
    async isUsedElsewhere({ platform, externalAccountId, id }: ConnectionRow): Promise<boolean> {
      const [found] = await rows.read<{ there: boolean }>(othersOfAccount, [platform, externalAccountId, id])
      return found!.there
    },

    /** Returns connections that are due. */
    due: ({ now, expiring, ending, checked }: Due, limit: number) => rows.read(due, [now, expiring, ending, checked, limit]),

    /** Reports that the worker that renews the tokens is alive, if its claim is still valid. */
    async beat({ brandId, id }: ConnectionRow, renewalId: string): Promise<void> {
      await Model.increment('renewalBeats', { where: { brandId, id, renewalId }, silent: true })
    },

    /** Releases a claim on renewal, unless another worker has taken it over. */
    async releaseRenewal({ brandId, id }: ConnectionRow, renewalId: string): Promise<void> {
      await Model.update(noRenewal, { where: { brandId, id, renewalId } })
    },
  }
}

export const connectionStore = (cipher: Cipher) =>
  store(
    connections,
    {
      what: 'connection',
      tenancy: { through: brands, owner: 'organizationId', by: 'brandId' },
      // The latest authorized first.
      filters: { brandId: 'eq', platform: 'eq', health: 'eq', orphaned: 'eq' },
      sorted: { by: 'connectedAt', way: 'desc', name: 'latest' },
      manyBy: { brandId: 't.connected_at desc, t.id' },
    },
    (rows, opening) => connectionSql(rows, opening, cipher),
  )
