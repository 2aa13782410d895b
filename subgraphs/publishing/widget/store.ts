import { QueryTypes, type Sequelize } from 'sequelize'
import type { Clock } from '../../../platform/clock.ts'
import { createEachLoader, type Reading } from '../../loader.ts'
import { dayOf, weekBegin } from './rules.ts'

/** What the widget counts and shows, in one statement. */
export interface WidgetFacts {
  readonly scheduledToday: number
  readonly failed: number
  readonly publishedThisWeek: number
  readonly next: { readonly id: string; readonly copy: string; readonly scheduledAt: Date } | null
}

/** SQL of the widget. */
export function createWidgetStore(sequelize: Sequelize) {
  return {
    /** Counts the posts of an organization. `day` and `week` are the UTC day and the UTC week (from Monday) that count as now. */
    async facts(organizationId: string, now: Date, day: { from: Date; to: Date }, weekFrom: Date): Promise<WidgetFacts> {
      const [row] = await sequelize.query<{
        scheduledToday: number
        failed: number
        publishedThisWeek: number
        next: { id: string; copy: string; at: string } | null
      }>(
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
        { bind: [organizationId, now, day.from, day.to, weekFrom], type: QueryTypes.SELECT },
      )
      const next = row?.next ?? null
      return {
        scheduledToday: row?.scheduledToday ?? 0,
        failed: row?.failed ?? 0,
        publishedThisWeek: row?.publishedThisWeek ?? 0,
        next: next && { id: next.id, copy: next.copy, scheduledAt: new Date(next.at) },
      }
    },
  }
}

export type WidgetStore = ReturnType<typeof createWidgetStore>

/** What the widgets of organizations show, for one operation: under several aliases it is counted once. */
export const widgetFacts = (store: WidgetStore, clock: Clock, reading: Reading) =>
  createEachLoader<string, WidgetFacts>(reading, id => {
    const now = clock.now()
    return store.facts(id, now, dayOf(now), weekBegin(now))
  })
