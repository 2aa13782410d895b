import type { Transaction } from 'sequelize'
import { rows, type Statement, statement } from '../../../../platform/sql/statement.ts'
import { selectList } from '../../../../platform/sql/table.ts'
import type { Opening } from '../../../store/store.ts'
import type { Platform } from '../../network/network.ts'
import { type BrandRow, brands } from '../brand.ts'
import { type ConnectionRow, connections } from '../connection.ts'

/** An account as the network names it to us, by either of its ids, and the moment since when what was connected is not meant. */
export interface NetworkAccount {
  readonly platform: Platform
  readonly accountId: string
  readonly before: Date
  /** Of which organizations it is meant: those whose application signed for it; null: of whichever. */
  readonly organizations: readonly string[] | null
}

/** How many organizations are asked for the secret of a request. */
const mostOrganizations = 50

/** An account that was connected anew since is somebody's wish that came later. */
const ofAccount = `c.platform = $1 and (c.external_account_id = $2 or c.metadata ? 'scopedId' and c.metadata ->> 'scopedId' = $2) and c.connected_at <= $3
  and ($4::text[] is null or exists (select from publishing.brands o where o.id = c.brand_id and o.organization_id::text = any($4::text[])))`

/** In an order of their own, so that two who hold several wait for each other in one direction. */
const held = statement(`select ${selectList(connections, 'c')} from publishing.connections c where ${ofAccount} order by c.brand_id, c.id for no key update`)
/** Whether a call is under way by one of them: how it ended is written with the connection's id. */
const busy = statement(
  `select exists (select from publishing.connections c join publishing.attempts a on a.brand_id = c.brand_id and a.connection_id = c.id
    where ${ofAccount} and a.outcome is null) as busy`,
)
/** Posts are held before connections, as delivery holds them: a connection that goes is taken from its posts. */
const holdPosts = statement(
  `select p.id from publishing.posts p join publishing.connections c on p.brand_id = c.brand_id and p.connection_id = c.id
    where ${ofAccount} order by p.brand_id, p.id for no key update of p`,
)
/** Organizations of the account's connections first, then others with one on that network: some must know the secret of what nobody here is meant by. */
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
/** What the network counted of what was published by them. */
const [forgetSnapshots, forgetFigures] = ['figure_snapshots', 'post_figures'].map(name =>
  statement(
    `delete from publishing.${name} f using publishing.posts p, publishing.connections c
      where f.brand_id = p.brand_id and f.post_id = p.id and p.brand_id = c.brand_id and p.connection_id = c.id and ${ofAccount}`,
  ),
) as [Statement, Statement]
const remove = statement(`delete from publishing.connections c where ${ofAccount} returning ${selectList(connections, 'c')}`)

/** The connections of one account of a network, whichever brands and organizations they are of: for what the network itself says of it. */
export const networkAccountStore = {
  table: connections,
  lists: {},
  open: ({ sequelize }: Opening) => {
    const values = ({ platform, accountId, before, organizations }: NetworkAccount) => [platform, accountId, before, organizations]
    return {
      /** The organizations that have connected an account, the first ones first; of an account of nobody here, some that have connected another one there. */
      async organizationsOf(platform: Platform, accountId: string): Promise<{ readonly ids: readonly string[]; readonly isTheirs: boolean }> {
        const theirs = await rows<{ id: string }>(sequelize, organizations, [platform, accountId, mostOrganizations])
        const found = theirs.length > 0 ? theirs : await rows<{ id: string }>(sequelize, someOrganizations, [platform, mostOrganizations])
        return { ids: found.map(({ id }) => id), isTheirs: theirs.length > 0 }
      },

      /** Holds them until the transaction ends. */
      hold: (account: NetworkAccount, transaction: Transaction): Promise<readonly ConnectionRow[]> =>
        rows<ConnectionRow>(sequelize, held, values(account), transaction),

      /** The brands of held connections, by id: read in the same transaction, for who waits in one must not need another connection of the database. */
      async brandsOf(held: readonly ConnectionRow[], transaction: Transaction): Promise<ReadonlyMap<string, BrandRow>> {
        const found = await rows<BrandRow>(sequelize, brandsById, [held.map(({ brandId }) => brandId)], transaction)
        return new Map(found.map(brand => [brand.id, brand]))
      },

      /** Whether a post is being sent by one of them. */
      async isBusy(account: NetworkAccount): Promise<boolean> {
        const [found] = await rows<{ busy: boolean }>(sequelize, busy, values(account))
        return found?.busy ?? false
      },

      /** Removes them with all that is known of them; posts stay, and attempts. */
      async remove(account: NetworkAccount, transaction: Transaction): Promise<readonly ConnectionRow[]> {
        await rows(sequelize, holdPosts, values(account), transaction)
        for (const forget of [forgetSnapshots, forgetFigures]) await rows(sequelize, forget, values(account), transaction)
        return rows<ConnectionRow>(sequelize, remove, values(account), transaction)
      },
    }
  },
}
