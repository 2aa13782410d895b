import { rows, statement } from '../../../../platform/sql/statement.ts'
import { selectList } from '../../../../platform/sql/table.ts'
import { createEachLoader } from '../../../store/loader.ts'
import type { StoreContext } from '../../../store/store.ts'
import { type ConnectionRow, connections } from '../connection.ts'
import { type PostRow, posts } from '../post.ts'

/** Whose figures, and what today and this week are there. */
export interface DashboardOf {
  readonly organizationId: string
  readonly brandId: string | null
  readonly dayFrom: Date
  readonly dayTo: Date
  readonly weekFrom: Date
}

interface Counts {
  readonly scheduledToday: number
  readonly failed: number
  readonly publishedThisWeek: number
  readonly awaitingApproval: number
  readonly unknown: number
}

/** What a dashboard shows. */
export interface PublishingDashboardRow extends Counts {
  readonly attention: readonly ConnectionRow[]
  readonly next: readonly PostRow[]
}

/** How many connections and posts a dashboard names. */
export const mostShown = { attention: 50, next: 5 } as const

const ofBrands = 'b.organization_id = $1 and case when $2::uuid is null then b.archived_at is null else b.id = $2 end'
const count = statement(
  `select coalesce(sum(today.count), 0)::int as "scheduledToday", coalesce(sum(failed.count), 0)::int as failed,
     coalesce(sum(week.count), 0)::int as "publishedThisWeek", coalesce(sum(pending.count), 0)::int as "awaitingApproval",
     coalesce(sum(doubt.count), 0)::int as unknown
   from publishing.brands b
   cross join lateral (select count(*) from publishing.posts p
     where p.brand_id = b.id and p.status = 'SCHEDULED' and p.scheduled_at >= $3 and p.scheduled_at < $4) today
   cross join lateral (select count(*) from publishing.posts p where p.brand_id = b.id and p.status = 'FAILED') failed
   cross join lateral (select count(*) from publishing.posts p where p.brand_id = b.id and p.status = 'PUBLISHED' and p.published_at >= $5) week
   cross join lateral (select count(*) from publishing.posts p where p.brand_id = b.id and p.approval = 'PENDING') pending
   cross join lateral (select count(*) from publishing.posts p where p.brand_id = b.id and p.delivery_phase = 'UNKNOWN') doubt
   where ${ofBrands}`,
)
const attention = statement(
  `select ${selectList(connections, 'c')} from publishing.brands b join publishing.connections c on c.brand_id = b.id
   where ${ofBrands} and c.health <> 'HEALTHY' order by c.connected_at desc, c.id limit ${mostShown.attention}`,
)
const next = statement(
  `select ${selectList(posts, 'p')} from publishing.brands b cross join lateral (
     select * from publishing.posts p where p.brand_id = b.id and p.status = 'SCHEDULED' and p.scheduled_at >= $3
     order by p.scheduled_at, p.id limit ${mostShown.next}) p
   where ${ofBrands} order by p.scheduled_at, p.id limit ${mostShown.next}`,
)

/** What dashboards show: under several aliases it is counted once. */
export const dashboardStore = {
  open: ({ sequelize, reading, clock }: StoreContext) => ({
    of: createEachLoader<DashboardOf, PublishingDashboardRow>(
      reading,
      async ({ organizationId, brandId, dayFrom, dayTo, weekFrom }) => {
        const whose = [organizationId, brandId]
        const [[counts], troubled, coming] = await Promise.all([
          rows<Counts>(sequelize, count, [...whose, dayFrom, dayTo, weekFrom], null, reading),
          rows<ConnectionRow>(sequelize, attention, whose, null, reading),
          rows<PostRow>(sequelize, next, [...whose, clock.now()], null, reading),
        ])
        return { ...counts!, attention: troubled, next: coming }
      },
      JSON.stringify,
    ),
  }),
}
