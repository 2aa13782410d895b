import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { rows, type Statement, statement } from '../../../../platform/sql/statement.ts'
import { createLoader } from '../../../store/loader.ts'
import type { Openable } from '../../../store/store.ts'
import { type Owner, ownerOf } from '../installation.ts'

export type EntitlementPlan = 'NONE' | 'FREE_WORKSPACE' | 'THREE' | 'FIVE' | 'TEN' | 'EVERYTHING'

/** How long a subscription whose payment failed still counts, in ms: 7 days. */
export const graceMs = 7 * 86_400_000

/** Apps of the platform that each plan opens; null: all of them. */
export const appsOf: Readonly<Record<EntitlementPlan, number | null>> = { NONE: 0, FREE_WORKSPACE: 1, THREE: 3, FIVE: 5, TEN: 10, EVERYTHING: null }

const plans = Object.keys(appsOf) as EntitlementPlan[]

/** A subscription that counts. */
export interface Counting {
  /** PLATFORM: the owner looks after the platform, and needs none. */
  readonly plan: EntitlementPlan | 'PLATFORM'
  readonly seats: number
  readonly currentPeriodEnd: Date | null
  readonly pastDueSince: Date | null
}

/** What an owner may use. */
export interface Rights {
  readonly plan: EntitlementPlan
  /** Apps of the platform; null: no limit. */
  readonly limit: number | null
  /** Apps of the platform that are installed, the oldest installation first. */
  readonly apps: readonly string[]
  readonly seats: number
  /** Until when; null: nobody knows, or there is no end. */
  readonly validUntil: Date | null
}

/** Returns what an owner may use by the subscriptions that count: the largest of them. */
export function rightsOf(counting: readonly Counting[], apps: readonly string[]): Rights {
  const paid = counting.flatMap(({ plan, ...more }) => (plan === 'PLATFORM' ? [] : { plan, ...more }))
  const [best] = paid.toSorted((a, b) => plans.indexOf(b.plan) - plans.indexOf(a.plan) || b.seats - a.seats)
  const plan = best?.plan ?? 'NONE'
  const ends = best?.pastDueSince ? new Date(best.pastDueSince.getTime() + graceMs) : (best?.currentPeriodEnd ?? null)
  return { plan, limit: counting.length > paid.length ? null : appsOf[plan], apps, seats: best?.seats ?? 0, validUntil: ends }
}

/** The part of a catalogue entry that decides whether it is paid for. */
interface Entry {
  readonly app: string
  readonly origin: string
}

/** Whether an app needs a bundle: those of the platform do, except for the launcher itself. */
export const needsBundle = ({ app, origin }: Entry): boolean => origin === 'PLATFORM' && app !== 'launcher'

/**
 * Whether an owner may use an app. When the limit falls, the newest installations beyond it stay and are not entitled; an
 * app that is not installed is entitled while there is room.
 */
export function isEntitled(entry: Entry, { limit, apps }: Pick<Rights, 'limit' | 'apps'>): boolean {
  if (!needsBundle(entry) || limit === null) return true
  const at = apps.indexOf(entry.app)
  return (at < 0 ? apps.length : at) < limit
}

/** What an owner pays for, installs and has taken over changes one at a time. */
const lockOwner = transactionLock('launcher.entitlement', 1)

const counts = `t.owner_type = $1 and t.owner_id = $2::uuid
  and (t.status in ('ACTIVE', 'TRIALING') or (t.status = 'PAST_DUE' and t.past_due_since > $3))`
const isOwners = `t.organization_id is not distinct from $4::uuid and t.user_id is not distinct from $5::uuid and t.removed_at is null`
/**
 * Subscriptions of an owner that count, whether the owner looks after the platform, and the apps of the platform that it
 * has installed, the oldest installation first. The launcher needs none.
 */
const state = statement(
  `select f.* from (
     select t.package as plan, t.seats, t.current_period_end as "currentPeriodEnd", t.past_due_since as "pastDueSince", null as app, null::timestamptz as at
       from launcher.billing_subscriptions t where ${counts}
     union all
     select 'FREE_WORKSPACE', 0, t.current_period_end, t.past_due_since, null, null from launcher.workspace_verifications t where ${counts}
     union all
     select 'PLATFORM', 0, null, null, null, null from launcher.platform p where $1 = 'ORGANIZATION' and p.organization_id = $2::uuid
     union all
     select null, 0, null, null, t.app, t.installed_at from launcher.installations t join launcher.catalog_entries e on e.app = t.app
       where ${isOwners} and e.origin = 'PLATFORM' and t.app <> 'launcher'
   ) f order by f.at, f.app limit 500`,
)
const storeApps = statement(
  `select count(*)::int as count from launcher.installations t
    where t.organization_id is not distinct from $1::uuid and t.user_id is not distinct from $2::uuid and t.removed_at is null
      and not exists (select from launcher.catalog_entries e where e.app = t.app and e.origin = 'PLATFORM')`,
)
const learn = statement(
  `insert into launcher.platform (organization_id) values ($1)
   on conflict (one) do update set organization_id = excluded.organization_id where platform.organization_id <> excluded.organization_id`,
)

type Found = Omit<Counting, 'plan'> & { readonly plan: Counting['plan'] | null; readonly app: string | null }

/** What owners may use: it follows from their subscriptions each time. */
export interface EntitlementStore {
  /** Returns what the viewer's active context may use. */
  rights(): Promise<Rights>
  /** Forgets what `rights` read, after a change. */
  forget(): void
  /** Returns what an owner may use. */
  rightsOf(owner: Owner, transaction?: Transaction): Promise<Rights>
  /** Keeps everybody else from changing what an owner may use, until the transaction ends. */
  lockOwner(owner: Owner, transaction: Transaction): Promise<void>
  /** Number of apps of the store, and of the organization's own, that an owner has installed. */
  countStoreApps(owner: Owner): Promise<number>
  /** Remembers which organization looks after the platform. */
  learnPlatform(organizationId: string, transaction: Transaction): Promise<void>
}

export const entitlementStore: Openable<EntitlementStore> = {
  open({ sequelize, reading, viewer, clock }) {
    const read = <Row extends object>(wanted: Statement, values: readonly unknown[], transaction?: Transaction) =>
      rows<Row>(sequelize, wanted, values, transaction ?? null, transaction ? undefined : reading)
    const readRights = async ({ organizationId, userId }: Owner, transaction?: Transaction): Promise<Rights> => {
      const since = new Date(clock.now().getTime() - graceMs)
      const type = organizationId ? 'ORGANIZATION' : 'USER'
      const found = await read<Found>(state, [type, organizationId ?? userId, since, organizationId, userId], transaction)
      return rightsOf(
        found.filter((each): each is Found & Counting => each.plan !== null),
        found.flatMap(({ app }) => app ?? []),
      )
    }
    const mine = createLoader<'mine', Rights>(reading, async () => {
      const owner = viewer && ownerOf(viewer)
      return [owner ? await readRights(owner) : rightsOf([], [])]
    })
    return {
      rights: () => mine.load('mine'),
      forget: () => void mine.clear('mine'),
      rightsOf: readRights,
      async lockOwner({ organizationId, userId }, transaction) {
        await read(lockOwner, [organizationId ?? userId], transaction)
      },
      countStoreApps: async ({ organizationId, userId }) => (await read<{ count: number }>(storeApps, [organizationId, userId]))[0]!.count,
      async learnPlatform(organizationId, transaction) {
        await read(learn, [organizationId], transaction)
      },
    }
  },
}
