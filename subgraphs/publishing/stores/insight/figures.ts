import type { Figures } from '../../network/network.ts'

/** What networks count, and the columns in which it stands. */
export const figuresOf = {
  impressions: 'impressions',
  likes: 'likes',
  comments: 'comments',
  shares: 'shares',
  clicks: 'clicks',
  videoViews: 'video_views',
} as const satisfies Readonly<Record<keyof Figures, string>>

/** The largest number that is told: networks count farther than anybody publishes. */
export const largest = 2_147_483_647
