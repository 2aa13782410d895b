import { codePoints } from '../check.ts'
import type { NetworkFacts } from '../network.ts'

/** LinkedIn as a person: nothing of it can be looked up or commented. */
export const linkedin = {
  title: 'LinkedIn (person)',
  path: 'linkedin',
  targets: [],
  capabilities: { firstComment: false, analytics: false, thread: 'SEPARATE', lookup: 'NONE' },
  content: {
    copy: 3000,
    measure: codePoints,
    title: null,
    media: { least: 0, images: 20, gifs: 20, videos: 1, most: 20, mixed: false, videoSeconds: null },
    visibility: null,
  },
  protocol: null,
} satisfies NetworkFacts
