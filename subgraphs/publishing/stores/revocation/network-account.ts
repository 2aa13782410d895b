import type { Transaction } from 'sequelize'
import { rows, type Statement, statement } from '../../../../platform/sql/statement.ts'
import { selectList } from '../../../../platform/sql/table.ts'
import type { StoreContext } from '../../../store/store.ts'
import type { Platform } from '../../network/network.ts'
import { type BrandRow, brands } from '../brand.ts'
import { type ConnectionRow, connections } from '../connection.ts'

/** A network's account, by either of its ids, with the time up to which its connections are affected. */
export interface NetworkAccount {
  readonly platform: Platform
  readonly accountId: string
  readonly before: Date
  /** The affected organizations: those whose application signed the request; null for all. */
  readonly organizations: readonly string[] | null
}

/** Maximum number of organizations whose secret is tried for a request. */
const mostOrganizations = 50

/** An account that was connected again after the request stays, because a person decided so later. */
const ofAccount = `c.platform = $1 and (c.external_account_id = $2 or c.metadata ? 'scopedId' and c.metadata ->> 'scopedId' = $2) and c.connected_at <= $3
  and ($4::text[] is null or exists (select from publishing.brands o where o.id = c.brand_id and o.organization_id::text = any($4::text[])))`

/** Locks the connections in a fixed order, so that two transactions with several connections cannot deadlock. */
const held = statement(`select ${selectList(connections, 'c')} from publishing.connections c where ${ofAccount} order by c.brand_id, c.id for no key update`)
/** Whether a call by one of the connections is in progress: its result is stored with the connection's id. */
const busy = statement(
  `select exists (select from publishing.connections c join publishing.attempts a on a.brand_id = c.brand_id and a.connection_id = c.id
    where ${ofAccount} and a.outcome is null) as busy`,
)
/** Posts are locked before connections, as delivery does, because removing a connection changes its posts. */
const holdPosts = statement(
  `select p.id from publishing.posts p join publishing.connections c on p.brand_id = c.brand_id and p.connection_id = c.id
    where ${ofAccount} order by p.brand_id, p.id for no key update of p`,
)
/**
 * Organizations of the account's connections first, then others with a connection on that network: for an unknown
 * account, one of their secrets must verify the request.
 */
const organizations = statement(
  `select b.organization_id as id from publishing.connections c join publishing.brands b on b.id = c.brand_id
    where c.platform = $1 and (c.external_account_id = $2 or c.metadata ? 'scopedId' and c.metadata ->> 'scopedId' = $2)
    group by b.organization_id order by min(c.connected_at) limit $3`,
)
const someOrganizations = statement(
  `select b.organization_id as id from (select c.brand_id from publishing.connections c where c.platform = $1 limit $2) c
    join publishing.brands b on b.id = c.brand_id group by b.organization_id`,
)
const brandsById = statement(`select ${selectList(brands, 'b')} from publishing.brands b where b.id = any($1::uuid[])`)
/** Figures of posts that the account published. */
const [forgetSnapshots, forgetFigures] = ['figure_snapshots', 'post_figures'].map(name =>
  statement(
    `delete from publishing.${name} f using publishing.posts p, publishing.connections c
      where f.brand_id = p.brand_id and f.post_id = p.id and p.brand_id = c.brand_id and p.connection_id = c.id and ${ofAccount}`,
  ),
) as [Statement, Statement]
const remove = statement(`delete from publishing.connections c where ${ofAccount} returning ${selectList(connections, 'c')}`)

/**
 * The connections of one account of a network, in all brands and organizations, for notifications by the network
 * itself.
 */
export const networkAccountStore = {
  table: connections,
  lists: {},
  open: ({ sequelize }: StoreContext) => {
    const values = ({ platform, accountId, before, organizations }: NetworkAccount) => [platform, accountId, before, organizations]
    return {
      /**
       * Returns the organizations that have connected an account, the earliest first; for an unknown account, some that
       * have connected another one on that network.
       */
      async organizationsOf(platform: Platform, accountId: string): Promise<{ readonly ids: readonly string[]; readonly isTheirs: boolean }> {
        const theirs = await rows<{ id: string }>(sequelize, organizations, [platform, accountId, mostOrganizations])
        const found = theirs.length > 0 ? theirs : await rows<{ id: string }>(sequelize, someOrganizations, [platform, mostOrganizations])
        return { ids: found.map(({ id }) => id), isTheirs: theirs.length > 0 }
      },

      /** Locks the connections until the transaction ends. */
      hold: (account: NetworkAccount, transaction: Transaction): Promise<readonly ConnectionRow[]> =>
        rows<ConnectionRow>(sequelize, held, values(account), transaction),

      /**
       * Returns the brands of locked connections, by id. It reads in the same transaction, because waiting for another
       * connection of the pool within a transaction could deadlock.
       */
      async brandsOf(held: readonly ConnectionRow[], transaction: Transaction): Promise<ReadonlyMap<string, BrandRow>> {
        const found = await rows<BrandRow>(sequelize, brandsById, [held.map(({ brandId }) => brandId)], transaction)
        return new Map(found.map(brand => [brand.id, brand]))
      },

      /** Whether a post is being sent by one of the connections. */
      async isBusy(account: NetworkAccount): Promise<boolean> {
        const [found] = await rows<{ busy: boolean }>(sequelize, busy, values(account))
        return found?.busy ?? false
      },

      /** Removes the connections with all data about them; posts and attempts stay. */
      async remove(account: NetworkAccount, transaction: Transaction): Promise<readonly ConnectionRow[]> {
        await rows(sequelize, holdPosts, values(account), transaction)
        for (const forget of [forgetSnapshots, forgetFigures]) await rows(sequelize, forget, values(account), transaction)
        return rows<ConnectionRow>(sequelize, remove, values(account), transaction)
      },
    }
  },
}
