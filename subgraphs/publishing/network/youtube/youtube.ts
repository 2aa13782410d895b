import { bytesOf } from '../check.ts'
import type { NetworkFacts } from '../network.ts'

/** YouTube channels: one film a post, with a title. */
export const youtube = {
  title: 'YouTube',
  path: 'youtube',
  targets: [],
  capabilities: { firstComment: false, analytics: true, thread: 'SEPARATE', lookup: 'BY_ID' },
  content: {
    copy: 5000,
    measure: bytesOf,
    title: { most: 100, needed: true },
    media: { least: 1, images: 0, gifs: 0, videos: 1, most: 1, mixed: false, videoSeconds: null },
    visibility: 'PRIVATE',
  },
  protocol: null,
} satisfies NetworkFacts
