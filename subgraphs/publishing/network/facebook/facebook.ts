import { codePoints } from '../check.ts'
import type { NetworkFacts } from '../network.ts'

/** Facebook: pages, and groups where an operator allows them. */
export const facebook = {
  title: 'Facebook',
  path: 'facebook',
  targets: ['PAGE', 'GROUP'],
  capabilities: { firstComment: true, analytics: true, thread: 'COMMENT', lookup: 'BY_LISTING' },
  content: {
    copy: 63_206,
    measure: codePoints,
    title: null,
    media: { least: 0, images: 10, gifs: 10, videos: 1, most: 10, mixed: false, videoSeconds: null },
    visibility: null,
  },
  protocol: null,
} satisfies NetworkFacts
