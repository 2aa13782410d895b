import { emojiAsBytes } from '../check.ts'
import type { NetworkFacts } from '../network.ts'

/** Threads accounts: short texts, threads as replies. */
export const threads = {
  title: 'Threads',
  path: 'threads',
  targets: ['THREAD_ACCOUNT'],
  capabilities: { firstComment: true, analytics: false, thread: 'REPLY', lookup: 'BY_ID' },
  content: {
    copy: 500,
    measure: emojiAsBytes,
    title: null,
    media: { least: 0, images: 20, gifs: 0, videos: 20, most: 20, mixed: true, videoSeconds: null },
    visibility: null,
  },
  protocol: null,
} satisfies NetworkFacts
