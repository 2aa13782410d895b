import { createHash, randomBytes } from 'node:crypto'
import type { Transaction } from 'sequelize'
import { DomainError } from '../../../../platform/errors.ts'
import { newId } from '../../../../platform/ids.ts'
import { problem, problemOf } from '../../../http/problem.ts'
import { write } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context, Job } from '../../context.ts'
import { tellResting } from '../../news/webhook/resting.ts'
import type { BrandRow } from '../../stores/brand.ts'
import type { CalendarFeedRow } from '../../stores/planning/calendar-feed.ts'
import { calendarOf } from './ical.ts'

const dayMs = 86_400_000
/** Past and future days that a feed covers. */
const [daysBack, daysAhead] = [90, 365]

/** Cost of a piece of a calendar, in the units of `turnsOfTexts`. */
const weightOfPiece = 100

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url')

/** Creates a new calendar address for a brand, and invalidates the former one. */
export async function createFeed(context: Context, brandId: string): Promise<CalendarFeedRow & { url: string }> {
  const { brands, calendarFeeds, publicUrl, viewer } = context
  const brand = await brands.require(brandId, 'brandId')
  const token = randomBytes(32).toString('base64url')
  const row = await write(context, {
    async run({ transaction, now }) {
      await brands.requireInUse(brand.id, transaction)
      const earlier = await calendarFeeds.lockOf(brand.id, transaction)
      const tokenHash = hashOf(token)
      const made = { brandId: brand.id, id: newId(now), organizationId: brand.organizationId, tokenHash, createdAt: now, updatedAt: now }
      if (earlier) await calendarFeeds.remove(earlier, transaction)
      const inserted = await calendarFeeds.insert({ ...made, createdBy: actorOf(viewer) }, transaction)
      if (earlier && isResting(earlier, brand)) await tellResting(context, brand, { transaction, now })
      return inserted
    },
    audit: ({ id }) => ({ tenantId: brand.id, action: 'calendar_feed.created', subjectId: id }),
  })
  return { ...row, url: `${publicUrl}/publishing/calendar/${token}.ics` }
}

/** Invalidates the calendar address of a brand. @throws NOT_FOUND when it has none */
export async function revokeFeed(context: Context, brandId: string): Promise<CalendarFeedRow> {
  const { brands, calendarFeeds } = context
  const brand = await brands.require(brandId, 'brandId')
  return write(context, {
    async run({ transaction, now }) {
      const feed = await lockFeed(context, brand, transaction)
      await calendarFeeds.remove(feed, transaction)
      if (isResting(feed, brand)) await tellResting(context, brand, { transaction, now })
      return feed
    },
    audit: ({ id }) => ({ tenantId: brand.id, action: 'calendar_feed.revoked', subjectId: id }),
  })
}

/**
 * Reactivates a calendar address that moved with its brand from another organization. @throws NOT_FOUND when the brand
 * has none
 */
export async function confirmFeed(context: Context, brandId: string): Promise<CalendarFeedRow> {
  const { brands, calendarFeeds } = context
  const brand = await brands.require(brandId, 'brandId')
  let isNews = false
  return write(context, {
    async run({ transaction, now }) {
      const feed = await lockFeed(context, brand, transaction)
      isNews = isResting(feed, brand)
      if (!isNews) return feed
      const { organizationId } = brand
      const confirmed = await calendarFeeds.update(feed, { organizationId, updatedAt: now, version: feed.version + 1 }, transaction)
      await tellResting(context, brand, { transaction, now })
      return confirmed
    },
    audit: ({ id }) => (isNews ? { tenantId: brand.id, action: 'calendar_feed.confirmed', subjectId: id } : null),
  })
}

/** Whether an address came with its brand from another organization and waits for the present one's word. */
export const isResting = (feed: Pick<CalendarFeedRow, 'organizationId'>, brand: Pick<BrandRow, 'organizationId'>): boolean =>
  feed.organizationId !== brand.organizationId

/** Locks and returns the calendar feed of a brand. @throws NOT_FOUND when it has none */
async function lockFeed({ brands, calendarFeeds }: Context, brand: BrandRow, transaction: Transaction): Promise<CalendarFeedRow> {
  await brands.requireInUse(brand.id, transaction)
  const feed = await calendarFeeds.lockOf(brand.id, transaction)
  if (!feed) throw new DomainError('NOT_FOUND', 'The brand has no address for calendar programs.', { field: 'brandId' })
  return feed
}

/**
 * Answers a calendar program. The address is the credential: a replaced or revoked one gets the same answer as an
 * unknown one.
 */
export async function serveFeed({ calendarFeeds, clock, texts }: Job, token: string, request: Request): Promise<Response> {
  const brand = await calendarFeeds.brandOf(hashOf(token))
  if (!brand) return problem(request, 'NOT_FOUND', 'There is no calendar at this address: ask the person who gave it to you for the current one.')
  const now = clock.now().getTime()
  const told = await calendarFeeds.posts(brand.id, new Date(now - daysBack * dayMs), new Date(now + daysAhead * dayMs))
  const headers = { 'content-type': 'text/calendar; charset=utf-8', 'cache-control': 'private, no-store', 'x-content-type-options': 'nosniff' }
  const pieces = calendarOf(brand, told)
  const next = (isPatient: boolean) => texts.run({ key: brand.organizationId, weight: weightOfPiece, isPatient }, () => pieces.next())
  const encoder = new TextEncoder()
  try {
    // Rejects new readers above the limit; answers that have begun are completed.
    let piece = await next(false)
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (piece.done) return controller.close()
        controller.enqueue(encoder.encode(piece.value))
        piece = await next(true)
      },
    })
    return new Response(body, { headers })
  } catch (error) {
    if (error instanceof DomainError) return problemOf(request, error)
    throw error
  }
}
