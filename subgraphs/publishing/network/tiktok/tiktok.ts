import { codePoints } from '../content/check.ts'
import { mediaRules } from '../content/media.ts'
import type { NetworkFacts, Protocol } from '../network.ts'
import type { TiktokAddress } from './oauth.ts'

/** TikTok accounts: one film per post. */
export const tiktok = {
  title: 'TikTok',
  path: 'tiktok',
  targets: [],
  capabilities: { firstComment: false, analytics: false, thread: 'SEPARATE', lookup: 'BY_ID' },
  content: {
    copy: 2200,
    measure: codePoints,
    link: 'TEXT',
    title: null,
    media: mediaRules.TIKTOK,
    visibility: null,
  },
  protocol: {
    prefix: 'TIKTOK',
    needs: 'Login Kit and the Content Posting API with direct posts, and TikTok’s audit: before that TikTok refuses posts that others see',
    addresses: {
      authorizeUrl: { fallback: 'https://www.tiktok.com/v2/auth/authorize/', does: 'Login page of TikTok.' },
      apiUrl: { fallback: 'https://open.tiktokapis.com', does: 'API of TikTok.' },
    },
    hasTrials: true,
    load: () => import('./adapter.ts'),
  } satisfies Protocol<TiktokAddress>,
} satisfies NetworkFacts
