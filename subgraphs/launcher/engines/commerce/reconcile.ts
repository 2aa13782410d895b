import { write } from '../../../store/write.ts'
import type { BillingSubscriptionRow, BillingSubscriptions, WorkspaceVerificationRow, WorkspaceVerifications } from '../../stores/commerce/subscription.ts'
import { severalAtATime } from '../several.ts'
import { type GivenSeats, giveSeats, type SeatWork } from './seats.ts'
import { changesOf, takeIn } from './take-in.ts'

/** Maximum organizations, or subscriptions, that are read at once, and of those how many are under way at a time. */
const [atOnce, together] = [50, 8]
/** How often each is compared with the processor, and when one is tried again that could not be, in ms. */
const [dayMs, againMs] = [86_400_000, 3_600_000]

/** What reconciliation changed in an organization. */
export interface Reconciled extends GivenSeats {
  /** Subscriptions that the processor describes otherwise than they were known. */
  readonly corrected: number
}

type Subscription = Pick<BillingSubscriptionRow | WorkspaceVerificationRow, 'processorSubscriptionId' | 'learnedAt'>

/** Takes the processor's word for a subscription. @returns what is left to do after the commit; null when it was known so */
async function compare(job: SeatWork, { processorSubscriptionId, learnedAt }: Subscription): Promise<readonly (() => void)[] | null> {
  const snapshot = await job.billingProcessor.subscription(processorSubscriptionId, job.billingPrices)
  if (!snapshot) return null
  const taken = await write(job, { run: unit => takeIn(job, snapshot, learnedAt, unit, true) })
  return typeof taken === 'object' && 'changed' in taken ? changesOf(taken) : null
}

/** Takes the processor's word for what an organization has, and gives its seats anew. */
export async function reconcile(job: SeatWork, organizationId: string): Promise<Reconciled> {
  // The sweep of seats is woken at the end, so that what is released here is counted here.
  const announcements: (() => void)[] = []
  let corrected = 0
  try {
    for (const known of await job.billingSubscriptions.standingOf({ ownerType: 'ORGANIZATION', ownerId: organizationId })) {
      const changed = await compare(job, known)
      announcements.push(...(changed ?? []))
      if (changed) corrected += 1
    }
    const given = await giveSeats(job, organizationId)
    await job.seats.noteReconciled(organizationId, job.clock.now())
    return { ...given, corrected }
  } finally {
    for (const announce of announcements) announce()
  }
}

/**
 * Reconciles every organization that has seats, page by page and several at a time. One that fails leaves the others, and is tried again within
 * the day.
 * @param signal ends it early: the rest is left to the sweep
 */
export async function reconcileAll(job: () => SeatWork, signal: AbortSignal): Promise<Reconciled & { readonly organizations: number }> {
  const total = { organizations: 0, released: 0, assigned: 0, corrected: 0 }
  const one = async (organizationId: string): Promise<void> => {
    if (signal.aborted) return
    const done = await reconcile(job(), organizationId).catch(error => void job().log.error({ err: error, organizationId }, 'seats not reconciled'))
    if (!done) return
    total.organizations += 1
    total.released += done.released
    total.assigned += done.assigned
    total.corrected += done.corrected
  }
  let page: readonly string[] = await job().seats.accountsAfter(null, atOnce)
  while (page.length > 0 && !signal.aborted) {
    await severalAtATime(page, together, one)
    page = page.length < atOnce ? [] : await job().seats.accountsAfter(page.at(-1)!, atOnce)
  }
  return total
}

/** Reconciles organizations that were not compared with the processor for a day, and subscriptions that belong to no seats. */
export async function reconcileOld(job: () => SeatWork): Promise<void> {
  const looking = job()
  const [now, { log, seats, billingSubscriptions, workspaceVerifications }] = [looking.clock.now(), looking]
  const [old, again] = [new Date(now.getTime() - dayMs), new Date(now.getTime() - dayMs + againMs)]
  await severalAtATime(await seats.unreconciled(old, atOnce), together, organizationId =>
    reconcile(job(), organizationId).then(
      () => {},
      async error => {
        log.error({ err: error, organizationId }, 'seats not reconciled')
        await seats.noteReconciled(organizationId, again)
      },
    ),
  )
  for (const store of [billingSubscriptions, workspaceVerifications] as readonly (BillingSubscriptions | WorkspaceVerifications)[])
    await severalAtATime(await store.unreconciled(old, atOnce), together, async (known: Subscription & { readonly id: string }) => {
      try {
        for (const announce of (await compare(job(), known)) ?? []) announce()
        await store.noteReconciled(known.id, now)
      } catch (error) {
        log.error({ err: error, subscriptionId: known.id }, 'subscription not reconciled')
        await store.noteReconciled(known.id, again)
      }
    })
}
