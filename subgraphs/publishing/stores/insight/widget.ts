import { dayOf, weekBegin } from '../../../../platform/clock.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { createEachLoader } from '../../../store/loader.ts'
import type { StoreContext } from '../../../store/store.ts'

/** What the widget counts and shows. */
export interface WidgetFacts {
  readonly scheduledToday: number
  readonly failed: number
  readonly publishedThisWeek: number
  readonly next: { readonly id: string; readonly copy: string; readonly scheduledAt: Date } | null
}

const countPosts = statement(
  `select coalesce(sum(today.count), 0)::int as "scheduledToday", coalesce(sum(failed.count), 0)::int as failed,
     coalesce(sum(week.count), 0)::int as "publishedThisWeek",
     (array_agg(json_build_object('id', next.id, 'copy', next.copy, 'at', next.scheduled_at) order by next.scheduled_at, next.id)
       filter (where next.id is not null))[1] as next
   from publishing.brands b
   cross join lateral (select count(*) from publishing.posts p
     where p.brand_id = b.id and p.status = 'SCHEDULED' and p.scheduled_at >= $3 and p.scheduled_at < $4) today
   cross join lateral (select count(*) from publishing.posts p where p.brand_id = b.id and p.status = 'FAILED') failed
   cross join lateral (select count(*) from publishing.posts p where p.brand_id = b.id and p.status = 'PUBLISHED' and p.published_at >= $5) week
   left join lateral (select p.id, left(p.copy, 200) as copy, p.scheduled_at from publishing.posts p
     where p.brand_id = b.id and p.status = 'SCHEDULED' and p.scheduled_at >= $2 order by p.scheduled_at, p.id limit 1) next on true
   where b.organization_id = $1 and b.archived_at is null`,
)

type Counted = Omit<WidgetFacts, 'next'> & { readonly next: { id: string; copy: string; at: string } | null }

/** What the widgets of organizations show: under several aliases it is counted once. Days and weeks (from Monday) are UTC's. */
export const widgetStore = {
  open: ({ sequelize, reading, clock }: StoreContext) => ({
    facts: createEachLoader<string, WidgetFacts>(reading, async organizationId => {
      const now = clock.now()
      const day = dayOf(now)
      const [row] = await rows<Counted>(sequelize, countPosts, [organizationId, now, day.from, day.to, weekBegin(now)])
      const { next, ...counts } = row!
      return { ...counts, next: next && { id: next.id, copy: next.copy, scheduledAt: new Date(next.at) } }
    }),
  }),
}
