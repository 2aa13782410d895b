import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { usableToken } from '../../connection/tokens.ts'
import type { Context, Job } from '../../context.ts'
import { organizationOf } from '../../network/account/organization.ts'
import { AccessExpired, type Figures, type Network } from '../../network/network.ts'
import type { Comment, Target } from '../../network/publication.ts'
import type { ConnectionRow } from '../../stores/connection.ts'
import type { NewFigures } from '../../stores/insight/analytics.ts'
import type { PostRow } from '../../stores/post.ts'
import { againMs, nextCount, nextTry } from './rules.ts'

type Work = Pick<Job, 'connections' | 'networks'> & (Job | Context)

/** Calls a network for an account; a rejected token is renewed once. */
async function asking<Result>(
  job: Work,
  network: Network,
  connection: ConnectionRow,
  target: Target | null,
  work: (from: Omit<Comment, 'platformPostId' | 'text'>) => Promise<Result>,
): Promise<Result> {
  const account = { externalId: connection.externalAccountId, name: connection.accountName }
  const placeToken = (target && job.connections.open(connection).placeTokens[`${target.kind}:${target.externalId}`]) || null
  const organizationId = await organizationOf(job, connection.brandId, connection.platform)
  const accessToken = await usableToken(job, network, connection)
  try {
    return await work({ organizationId, accessToken, placeToken, account, target })
  } catch (error) {
    if (!(error instanceof AccessExpired)) throw error
    return work({ organizationId, accessToken: await usableToken(job, network, connection, accessToken), placeToken, account, target })
  }
}

/** Returns the account's default place for posts. */
const usualPlace = ({ targets }: ConnectionRow): Target | null => {
  const place = targets.find(({ isDefault }) => isDefault)
  return place ? { kind: place.kind, externalId: place.externalId, name: place.name } : null
}

/** Maximum number of posts in one request for figures. */
const atOnce = 50

/**
 * Reads a network's figures of posts that went out by one connection to one place.
 * @returns figures by the network's id; null when it has none, or the connection is gone
 * @throws errors of the network, or of the token's renewal
 */
async function countsOf(job: Work, posts: readonly PostRow[]): Promise<ReadonlyMap<string, Figures> | null> {
  const { platform, connectionId, target } = posts[0]!
  const network = job.networks.get(platform)
  const connection = await job.connections.find(connectionId)
  if (!network?.figures || !connection?.active) return null
  const ids = posts.flatMap(({ platformPostId }) => platformPostId ?? [])
  return asking(job, network, connection, target ?? usualPlace(connection), from => network.figures!(from, ids))
}

/** Reads and stores the figures of posts of one connection and place, and schedules the next reading. */
export async function count(job: Job | Context, posts: readonly PostRow[]): Promise<void> {
  const { analytics, clock } = job
  const found = await countsOf(job, posts)
  const now = clock.now()
  const kept: NewFigures[] = []
  const without: NewFigures[] = []
  for (const { brandId, id: postId, platformPostId, publishedAt } of posts) {
    const figures = platformPostId ? found?.get(platformPostId) : undefined
    const next = { brandId, postId, dueAt: nextCount(publishedAt!, now) }
    if (figures) kept.push({ ...next, ...figures })
    else without.push(next)
  }
  if (kept.length > 0) await analytics.keep(kept, now)
  if (without.length > 0) await analytics.putOff(without)
}

const everyMs = 30_000
const takenAtOnce = 200

const placeOf = ({ connectionId, target }: PostRow) => JSON.stringify([connectionId, target?.kind, target?.externalId])

/** Reads due figures of posts, those of one account in one request. */
export const figuresSweep = (job: () => Job): Sweep => ({
  name: 'figures of posts',
  everyMs,
  asksOthers: true,
  async run() {
    const opened = job()
    const { analytics, clock, log } = opened
    const now = clock.now()
    const due = await analytics.due(now, new Date(now.getTime() + againMs), takenAtOnce)
    const groups = [...Map.groupBy(due, placeOf).values()].flatMap(posts =>
      Array.from({ length: Math.ceil(posts.length / atOnce) }, (_, part) => posts.slice(part * atOnce, (part + 1) * atOnce)),
    )
    await Promise.all(
      groups.map(posts =>
        count(opened, posts).catch(async error => {
          log.warn({ err: error, platform: posts[0]!.platform, posts: posts.length }, 'analytics of posts could not be read; it will be retried')
          await analytics.putOff(posts.map(({ brandId, id: postId, publishedAt }) => ({ brandId, postId, dueAt: nextTry(publishedAt!, now) })))
        }),
      ),
    )
  },
})

/**
 * Reads each account's followers once a UTC day, all at once: a silent network delays no other, and is asked again the
 * next day.
 */
export const followersSweep = (job: () => Job): Sweep => ({
  name: 'followers of accounts',
  everyMs: 60_000,
  asksOthers: true,
  async run() {
    const opened = job()
    const { analytics, clock, log, networks } = opened
    const day = clock.now().toISOString().slice(0, 10)
    const countOf = async (connection: ConnectionRow): Promise<void> => {
      const network = networks.get(connection.platform)
      const counted = network?.followers
        ? await asking(opened, network, connection, usualPlace(connection), from => network.followers!(from)).catch(error => {
            log.warn({ err: error, connectionId: connection.id }, 'follower count could not be read; the next day is tried')
            return null
          })
        : null
      await analytics.noteFollowers(connection, day, counted)
    }
    await Promise.all((await analytics.unfollowed(day, 50)).map(countOf))
  },
})
