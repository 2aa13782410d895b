import type { FilmFacts } from './read.ts'

/** A network's documented limits for films. */
export interface FilmRules {
  /** Page that documents the limits, with the date on which it was read. */
  readonly source: string
  readonly seconds: readonly [least: number, most: number]
  readonly codecs?: readonly string[]
  readonly sound?: readonly string[]
  /** Aspect ratio, width divided by height. */
  readonly ratio?: readonly [least: number, most: number]
  /** Limits of width and height, in pixels. */
  readonly sides?: readonly [least: number, most: number]
  readonly width?: number
  readonly mp4Alone?: boolean
}

/** Reason for refusing a film. */
export type FilmFault = 'duration' | 'format' | 'shape'

const h26x = ['avc1', 'avc3', 'hvc1', 'hev1']
const metas = { codecs: h26x, sound: ['mp4a'], ratio: [0.01, 10], width: 1920 } as const

export const filmRules = {
  x: {
    source: 'https://docs.x.com/x-api/media/quickstart/best-practices, 2026-11-24',
    seconds: [0.5, 140],
    codecs: ['avc1', 'avc3'],
    sound: ['mp4a'],
    ratio: [1 / 3, 3],
    sides: [32, 1920],
  },
  linkedin: {
    source: 'https://learn.microsoft.com/linkedin/marketing/community-management/shares/videos-api, 2026-11-24',
    seconds: [3, 1800],
    ratio: [1 / 2.4, 2.4],
    mp4Alone: true,
  },
  facebook: { source: 'https://developers.facebook.com/docs/graph-api/video-uploads, 2026-11-24', seconds: [0, 1200], ratio: [9 / 16, 16 / 9] },
  instagram: {
    source: 'https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media, 2026-11-24',
    seconds: [3, 900],
    ...metas,
  },
  threads: { source: 'https://developers.facebook.com/docs/threads/overview, 2026-11-24', seconds: [0, 300], ...metas },
  youtube: { source: 'https://support.google.com/youtube/answer/71673, 2026-11-24', seconds: [0, 43_200] },
  tiktok: {
    source: 'https://developers.tiktok.com/doc/content-posting-api-media-transfer-guide, 2026-11-24',
    seconds: [0, 600],
    codecs: [...h26x, 'vp08', 'vp09'],
    sides: [360, 4096],
  },
} as const satisfies Record<string, FilmRules>

/** Returns why a network refuses a film; null when it accepts the film, and for files that cannot be parsed. */
export function filmFault(rules: FilmRules, film: FilmFacts | null): FilmFault | null {
  if (!film) return null
  const { seconds, width, height, codec, sound, isQuicktime } = film
  if (seconds < rules.seconds[0] || seconds > rules.seconds[1]) return 'duration'
  if (rules.mp4Alone && isQuicktime) return 'format'
  if (codec && rules.codecs && !rules.codecs.includes(codec)) return 'format'
  if (sound && rules.sound && !rules.sound.includes(sound)) return 'format'
  if (rules.ratio && (width / height < rules.ratio[0] || width / height > rules.ratio[1])) return 'shape'
  if (rules.sides && (Math.min(width, height) < rules.sides[0] || Math.max(width, height) > rules.sides[1])) return 'shape'
  return rules.width !== undefined && width > rules.width ? 'shape' : null
}
