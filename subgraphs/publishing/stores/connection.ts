import type { Transaction } from 'sequelize'
import type { Cipher } from '../../../platform/cipher.ts'
import { newId } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { integer, json, modelOf, moment, type Row, selectList, stamps, table, text, texts, truth, uuid } from '../../../platform/sql/table.ts'
import type { SealedColumn } from '../../store/sealed.ts'
import { type Opening, type Rows, store } from '../../store/store.ts'
import { type ConnectionHealth, healthOf, type KeptPlace, keptPlaces, placeKey } from '../network/account/account.ts'
import { type Account, type Grant, GrantFailure, type Place, type Platform, type RateLimit } from '../network/network.ts'
import { brands } from './brand.ts'

/** Tokens are sealed before they come here. */
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
  /** When the present access token came; null for one of an earlier program. */
  renewedAt: moment.maybe,
  connectedAt: moment,
  /** Who renews the tokens at this moment, and until when nobody else does; both null: nobody. */
  renewalId: uuid.maybe,
  renewalUntil: moment.maybe,
  /** Grows while the worker that renews is alive; 0 in a claim of a program that does not count. */
  renewalBeats: integer.or(0),
  deactivatedReason: text.maybe,
  /** Whether the person who authorized it has left the organization since. */
  orphaned: truth.or(false),
  health: text.of<ConnectionHealth>().or('HEALTHY'),
  /** From when on only a person can renew the access; null where the network does not say. */
  reconnectBefore: moment.maybe,
  avatarUrl: text.maybe,
  targets: json.of<readonly KeptPlace[]>().or([]),
  /** Sealed: tokens of single places by `kind:externalId`. */
  placeTokens: text.maybe,
  /** What the network last said of its limit for this account. */
  rateLimit: json.of<KeptRateLimit>().maybe,
  lastCheckedAt: moment.maybe,
  ...stamps,
})

/** A limit as it is kept: moments are texts in JSON. Versions before kept no `answeredAt`. */
export type KeptRateLimit = Omit<RateLimit, 'resetsAt'> & { readonly resetsAt: string | null; readonly answeredAt?: string }

export type ConnectionRow = Row<typeof connections>

/** Who authorized which account for which brand. */
export interface Authorized {
  readonly brandId: string
  readonly platform: Platform
  readonly userId: string
  readonly account: Account
  readonly grant: Grant
  /** How far the network was set up then. @default PRODUCTION_READY */
  readonly readiness?: 'PRODUCTION_READY' | 'SANDBOX_ONLY'
  readonly now: Date
}

/** Which connections are looked after: by moments that count as past. */
export interface Due {
  readonly now: Date
  /** What only a person can renew until then is told. */
  readonly expiring: Date
  /** What ends until then is made to last longer, of networks that do so. */
  readonly ending: Date
  /** What the network was asked about since is left alone. */
  readonly checked: Date
}

/** Tokens in clear text: handed to an adapter, never kept. */
export interface OpenTokens {
  readonly accessToken: string
  readonly refreshToken: string | null
  /** Tokens of single places, by `kind:externalId`. */
  readonly placeTokens: Readonly<Record<string, string>>
}

const noRenewal = { renewalId: null, renewalUntil: null, renewalBeats: 0 } as const

/** A connection that is out of use, without its tokens; it stays, so that people see what to authorize again. */
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

/** How many scopes of a grant are kept: no network has as many. */
export const mostScopes = 20

/** How many connections a brand may have, inactive ones included: `Brand.connections` is no page. */
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
// Each part walks an index of its own; a connection may be found by several.
const due = statement(
  `select ${columns} from publishing.connections c where (c.brand_id, c.id) in (
     (select brand_id, id from publishing.connections where active and reconnect_before <= $2 and health = 'HEALTHY' order by reconnect_before limit $5)
     union (select brand_id, id from publishing.connections where active and reconnect_before <= $1
       and (last_checked_at is null or last_checked_at <= $4) order by reconnect_before limit $5)
     union (select brand_id, id from publishing.connections where active and token_expires_at <= $3 and platform in ('INSTAGRAM', 'THREADS')
       and (last_checked_at is null or last_checked_at <= $4) order by token_expires_at limit $5))`,
)

const place = (id: string, which: 'access' | 'refresh' | 'places') => `publishing.connection:${id}:${which}`

/** The tokens of connections as they are kept. */
export const sealedTokens: readonly SealedColumn[] = (
  [
    ['access', 'access_token'],
    ['refresh', 'refresh_token'],
    ['places', 'place_tokens'],
  ] as const
).map(([which, column]) => ({ table: connections.name, key: 'id', column, about: id => place(id, which) }))

/** What only connections are asked, and the only place where their tokens are sealed and opened. */
function connectionSql(rows: Rows<typeof connections>, { sequelize, viewer }: Opening, cipher: Cipher) {
  const Model = modelOf(sequelize, connections)

  /** What a grant changes in a row. A network that hands out no new refresh token keeps the old one valid. */
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

  /** What an account is, in a row: its places with what a person chose of them before. */
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
     * Opens the tokens of a row.
     * @throws GrantFailure, for now, when they were sealed with a key that is not configured: the fault is ours, and the key may come back
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

    /** Marks what a person authorized for an organization that this one has left: it goes on publishing, and tokens stay as they are. */
    async orphan(organizationId: string, userId: string, transaction: Transaction): Promise<void> {
      await rows.read(orphan, [organizationId, userId], transaction)
    },

    /**
     * Stores an authorization: a new connection, or new tokens, author and time for the one that this account has.
     * @throws CONFLICT, reason QUOTA, when the brand has as many as it may have
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
     * Keeps what a network says of its limit for an account, unless a newer answer is kept already: a window may open earlier than an answer
     * before said. Of answers of the same moment the one that leaves less counts. The version of the connection stays as it is.
     */
    async keepLimit({ brandId, id }: Pick<ConnectionRow, 'brandId' | 'id'>, { limit, remaining, resetsAt }: RateLimit, answeredAt: Date): Promise<void> {
      await rows.read(keepLimit, [brandId, id, limit, remaining, resetsAt?.toISOString() ?? null, answeredAt.toISOString()])
    },

    /** All connections of the brands in use of an organization, the latest authorized first; two thousand at most. */
    ofOrganization: (organizationId: string) => rows.read(ofOrganization, [viewer ? viewer.organizationId : organizationId]),

    /** Connections of an organization that were changed since, the last 500. */
    changedSince: (organizationId: string, since: Date) => rows.read(changed, [organizationId, since]),

    /** All connections of a brand, fifty at most, under lock; posts are held before them. */
    holdOfBrand: (brandId: string, transaction: Transaction) => rows.read(heldOfBrand, [brandId], transaction),

    /** Whether the account is in use by another connection than this one, of whichever brand. */
    async isUsedElsewhere({ platform, externalAccountId, id }: ConnectionRow): Promise<boolean> {
      const [found] = await rows.read<{ there: boolean }>(othersOfAccount, [platform, externalAccountId, id])
      return found!.there
    },

    /** Connections that somebody has to look after now. */
    due: ({ now, expiring, ending, checked }: Due, limit: number) => rows.read(due, [now, expiring, ending, checked, limit]),

    /** Shows that whoever made this claim on renewing is alive, if the claim still stands. */
    async beat({ brandId, id }: ConnectionRow, renewalId: string): Promise<void> {
      await Model.increment('renewalBeats', { where: { brandId, id, renewalId }, silent: true })
    },

    /** Gives a claim on renewing back, if it still is this one. */
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
