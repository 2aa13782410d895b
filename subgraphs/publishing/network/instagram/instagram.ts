import { codePoints } from '../check.ts'
import type { NetworkFacts } from '../network.ts'

/** Instagram business accounts: pictures and films, never a text alone. */
export const instagram = {
  title: 'Instagram',
  path: 'instagram',
  targets: ['PHOTO_ACCOUNT'],
  capabilities: { firstComment: false, analytics: true, thread: 'SEPARATE', lookup: 'BY_ID' },
  content: {
    copy: 2200,
    measure: codePoints,
    title: null,
    media: { least: 1, images: 10, gifs: 0, videos: 10, most: 10, mixed: true, videoSeconds: null },
    visibility: null,
  },
  protocol: null,
} satisfies NetworkFacts
