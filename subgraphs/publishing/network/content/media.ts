import type { FilmRules, MediaRules, Platform } from '../network.ts'

const [h264, hevc, vpx, aac] = [['avc1', 'avc3'], ['hvc1', 'hev1'], ['vp08', 'vp09'], ['mp4a']]
const read = '2026-11-24'

const metaFilm: Omit<FilmRules, 'bytes' | 'seconds'> = {
  quicktime: true,
  codecs: [...h264, ...hevc],
  sound: aac,
  ratio: [0.01, 10],
  sides: null,
  width: 1920,
}

const linkedin: MediaRules = {
  source: { url: 'https://learn.microsoft.com/linkedin/marketing/community-management/shares/videos-api', read },
  ...{ least: 0, images: 20, gifs: 20, videos: 1, most: 20, mixed: false },
  film: { quicktime: false, bytes: [75_000, 500_000_000], seconds: [3, 1_800], codecs: null, sound: null, ratio: [1 / 2.4, 2.4], sides: null, width: null },
}

/** Limits of each network for media. */
export const mediaRules: Readonly<Record<Platform, MediaRules>> = {
  X: {
    source: { url: 'https://docs.x.com/x-api/media/quickstart/best-practices', read },
    ...{ least: 0, images: 4, gifs: 1, videos: 1, most: 4, mixed: false },
    gifBytes: 15_000_000,
    // The maximum sides are those of help.x.com/using-x/x-videos; the developer page recommends smaller ones, which X
    // does not enforce.
    film: {
      quicktime: true,
      bytes: [0, 512_000_000],
      seconds: [0.5, 140],
      codecs: h264,
      sound: aac,
      ratio: [1 / 3, 3],
      sides: [32, 1_920],
      width: null,
    },
  },
  LINKEDIN: linkedin,
  LINKEDIN_PAGE: linkedin,
  FACEBOOK: {
    source: { url: 'https://developers.facebook.com/docs/graph-api/video-uploads', read },
    ...{ least: 0, images: 10, gifs: 10, videos: 1, most: 10, mixed: false },
    // https://developers.facebook.com/docs/graph-api/reference/page/photos
    gifBytes: 4_000_000,
    film: { quicktime: true, bytes: [0, 1_000_000_000], seconds: [0, 1_200], codecs: null, sound: null, ratio: [9 / 16, 16 / 9], sides: null, width: null },
  },
  INSTAGRAM: {
    source: { url: 'https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media', read },
    ...{ least: 1, images: 10, gifs: 0, videos: 10, most: 10, mixed: true },
    film: { ...metaFilm, bytes: [0, 300_000_000], seconds: [3, 900] },
  },
  THREADS: {
    source: { url: 'https://developers.facebook.com/docs/threads/overview', read },
    ...{ least: 0, images: 20, gifs: 0, videos: 20, most: 20, mixed: true },
    film: { ...metaFilm, bytes: [0, 1_000_000_000], seconds: [0, 300] },
  },
  YOUTUBE: {
    source: { url: 'https://support.google.com/youtube/answer/71673', read },
    ...{ least: 1, images: 0, gifs: 0, videos: 1, most: 1, mixed: false },
    film: { quicktime: true, bytes: [0, null], seconds: [0, 43_200], codecs: null, sound: null, ratio: null, sides: null, width: null },
  },
  TIKTOK: {
    source: { url: 'https://developers.tiktok.com/doc/content-posting-api-media-transfer-guide', read },
    ...{ least: 1, images: 0, gifs: 0, videos: 1, most: 1, mixed: false },
    film: {
      quicktime: true,
      bytes: [0, null],
      seconds: [0, 600],
      codecs: [...h264, ...hevc, ...vpx],
      sound: null,
      ratio: null,
      sides: [360, 4_096],
      width: null,
    },
  },
}
