import { createHash } from 'node:crypto'
import { retention } from '../../../../platform/jobs/retention.ts'
import { agingOf } from '../../../../subgraphs/publishing/delivery/retention.ts'
import { clocksOf } from '../../../../subgraphs/publishing/insight/analytics/days.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** Who asks, and a brand of theirs that `fill` has filled. */
export interface Asking {
  readonly as: Viewer
  readonly brandId: string
}

const dayMs = 86_400_000

/**
 * Every list, calendar and count of publishing that a client can ask for, as documents by what they ask.
 * @param first how long pages are
 */
export async function listsOf(graph: Supergraph, { brandId }: Asking, first: number): Promise<Readonly<Record<string, string>>> {
  const now = graph.clock.now().getTime()
  const at = (days: number) => new Date(now + days * dayMs).toISOString()
  const [thread] = await graph.rows<{ id: string }>('select thread_id as id from publishing.posts where brand_id = $1 and position = 5 limit 1', [brandId])
  const [post] = await graph.rows<{ groupId: string; campaignId: string }>(
    'select group_id as "groupId", campaign_id as "campaignId" from publishing.posts where brand_id = $1 and campaign_id is not null limit 1',
    [brandId],
  )
  const [half] = await graph.rows<{ at: Date }>(
    'select percentile_disc(0.5) within group (order by created_at) as at from publishing.posts where brand_id = $1',
    [brandId],
  )
  const behind = Buffer.from(JSON.stringify(['posts.newest', half!.at.toISOString(), brandId])).toString('base64url')
  const filters: Readonly<Record<string, string>> = {
    '': '',
    brandId: `brandId: "${brandId}"`,
    authorId: `authorId: "${authorOf(3)}"`,
    'status: PUBLISHED': 'status: PUBLISHED',
    'status: FAILED': 'status: FAILED',
    platform: 'platform: THREADS',
    'status, platform, brandId': `status: SCHEDULED, platform: X, brandId: "${brandId}"`,
    'status, platform, authorId': `status: PUBLISHED, platform: X, authorId: "${authorOf(3)}"`,
    'two months': `scheduledAfter: "${at(-30)}", scheduledBefore: "${at(30)}"`,
    'a year': `scheduledAfter: "${at(-365)}"`,
    'status, a month': `status: SCHEDULED, scheduledAfter: "${at(0)}", scheduledBefore: "${at(30)}"`,
    'approval: PENDING': 'approval: PENDING',
    'approval: APPROVED': 'approval: APPROVED',
    'approval: NONE': 'approval: NONE',
    'approval, status': 'approval: PENDING, status: SCHEDULED',
    'deliveryPhase: UNKNOWN': 'deliveryPhase: UNKNOWN',
    'deliveryPhase: NONE': 'deliveryPhase: NONE',
    campaignId: `campaignId: "${post!.campaignId}"`,
    groupId: `groupId: "${post!.groupId}"`,
    'a tag of half of them': 'tag: "often"',
    'a tag of one of fifty': 'tag: "one-of-fifty-7"',
    'a rare tag': 'tag: "rare"',
    'a tag, status': 'tag: "one-of-fifty-2", status: FAILED',
    'a tag of none': 'tag: "nobody"',
    'words of all': 'search: "some length"',
    'words of one of 37': 'search: "theme7y"',
    'words of one of 997': 'search: "TOPIC0123x"',
    'words of none': 'search: "nobody says it"',
    'words, status, brandId': `search: "theme7y", status: FAILED, brandId: "${brandId}"`,
    threadId: `threadId: "${thread!.id}"`,
    'threadId, brandId': `threadId: "${thread!.id}", brandId: "${brandId}"`,
    'far behind': `after: "${behind}"`,
    'far behind, authorId': `authorId: "${authorOf(3)}", after: "${behind}"`,
  }
  const posts = Object.entries(filters).map(([filter, given]) => [
    `posts(${filter})`,
    `{ posts(${[given, `first: ${first}`].filter(Boolean).join(', ')}) { nodes { id } } }`,
  ])
  const ofBrand = `brandId: "${brandId}", first: ${first}`
  return {
    ...Object.fromEntries(posts),
    brands: `{ brands(first: ${first}) { nodes { id } } }`,
    'postThreads, posts': `{ postThreads(${ofBrand}) { nodes { id posts { id } } } }`,
    'calendarEntries of a brand': `{ calendarEntries(${ofBrand}, from: "${at(-30)}", to: "${at(30)}") { nodes { id conflicts } } }`,
    'calendarEntries of all brands': `{ calendarEntries(first: ${first}, from: "${at(-30)}", to: "${at(30)}") { nodes { id } } }`,
    publishingDashboard: '{ publishingDashboard { scheduledToday failed publishedThisWeek awaitingApproval unknown next { id } attention { id } } }',
    'publishingDashboard of a brand': `{ publishingDashboard(brandId: "${brandId}") { scheduledToday failed publishedThisWeek awaitingApproval unknown next { id } attention { id } } }`,
    publishingWidget: '{ publishingWidget { statistics { key value } items { id } } }',
    'campaigns, counts': `{ campaigns(${ofBrand}) { nodes { id counts { draft scheduled published failed } } } }`,
    'campaign, posts': `{ campaign(id: "${post!.campaignId}") { posts(first: ${first}) { nodes { id } } } }`,
    'mediaAssets, usage': `{ mediaAssets(${ofBrand}) { nodes { id usage } } }`,
    'mediaAssets(kind)': `{ mediaAssets(${ofBrand}, kind: VIDEO) { nodes { id } } }`,
    'mediaAssets(a rare tag)': `{ mediaAssets(${ofBrand}, tag: "rare") { nodes { id } } }`,
    'mediaAssets(words of one of 997)': `{ mediaAssets(${ofBrand}, search: "topic0123x") { nodes { id } } }`,
    'mediaAssets(words of all)': `{ mediaAssets(${ofBrand}, search: "picture") { nodes { id } } }`,
    'mediaAsset, posts': `{ mediaAssets(brandId: "${brandId}", first: 1) { nodes { id posts(first: ${first}) { nodes { id } } } } }`,
    brandActivities: `{ brandActivities(${ofBrand}) { nodes { id } } }`,
    'posts, analytics': `{ posts(${ofBrand}, status: PUBLISHED) { nodes { analytics { latest { likes } } } } }`,
    'webhookEndpoints, deliveries': `{ webhookEndpoints(brandId: "${brandId}") { deliveries(first: ${first}) { nodes { id } } } }`,
    connections: `{ connections(first: ${first}) { nodes { id } } }`,
    'connections(health)': `{ connections(health: EXPIRING, first: ${first}) { nodes { id } } }`,
    integrations: '{ integrations { platform connections { id } } }',
  }
}

/** What reads all that it counts, and is told apart: nobody is asked for it unless a client is. */
export function countsOf({ brandId }: Asking, now: Date): Readonly<Record<string, string>> {
  const ago = (days: number) => new Date(now.getTime() - days * dayMs).toISOString()
  return {
    'posts, counted': '{ posts { totalCount } }',
    'posts of a status, counted': '{ posts(status: FAILED) { totalCount } }',
    'posts with words, counted': '{ posts(search: "theme7y") { totalCount } }',
    'brandAnalytics of 30 days': `{ brandAnalytics(brandId: "${brandId}", from: "${ago(30)}", to: "${now.toISOString()}") { totals { posts likes } byPlatform { platform } byDay { day } topPosts { post { id } } followers { count } } }`,
    'brandAnalytics of a year': `{ brandAnalytics(brandId: "${brandId}", from: "${ago(365)}", to: "${now.toISOString()}") { totals { posts likes } byDay { day } topPosts { post { id } } } }`,
  }
}

/** An author of those that `fill` has made, one of seven. */
const authorOf = (n: number): string =>
  createHash('md5')
    .update(`author${n}`)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

/** What publishing looks for by itself. @param brandId whose news are looked at again */
export function sweepsOf(graph: Supergraph, { brandId }: Asking): Readonly<Record<string, () => Promise<unknown>>> {
  const { attempts, analytics, connections, daySums, posts, webhookDeliveries, activities, mediaAssets } = graph.job
  const now = graph.clock.now()
  const soon = graph.clock.in(60_000)
  return {
    'overdue posts': () => attempts.overdue(soon, soon, 20),
    'interrupted calls': () => attempts.interrupted(soon, 20),
    'unknown outcomes': () => attempts.unknown(soon, 20),
    'comments to send': () => attempts.uncommented(now, 20),
    'figures of posts': () => analytics.due(now, soon, 200),
    'followers of accounts': () => analytics.unfollowed(now.toISOString().slice(0, 10), 50),
    'connections to look after': () => connections.due({ now, expiring: soon, ending: soon, checked: now }, 50),
    'days to sum': () => daySums.waiting(clocksOf('UTC').zones, 500),
    'sums to look at': () => daySums.toCheck(now),
    'webhooks to tell': () => webhookDeliveries.due(now, 50),
    'media to prepare': () => mediaAssets.waiting(now, 50),
    'what is old': () => retention({ sequelize: graph.database.sequelize, clock: graph.clock }, agingOf({ auditDays: 800, attemptDays: 800 })).run(),
    'posts of a brand, looked at again': () => posts.changedSince(brandId, now),
    'activity of a brand, looked at again': () => activities.since(brandId, now),
  }
}
