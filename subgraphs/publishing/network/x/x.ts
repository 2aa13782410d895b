import { mediaRules } from '../content/media.ts'
import type { NetworkFacts, Protocol } from '../network.ts'
import type { XAddress } from './oauth.ts'
import { mostWeight, objection, weightOf } from './text.ts'

/** X: short texts, and threads as chains of replies. */
export const x = {
  title: 'X',
  path: 'x',
  targets: [],
  capabilities: { firstComment: true, analytics: true, thread: 'REPLY', lookup: 'BY_LISTING' },
  content: {
    copy: mostWeight,
    measure: weightOf,
    objection,
    refusesRepetition: true,
    link: 'TEXT',
    title: null,
    media: mediaRules.X,
    visibility: null,
  },
  protocol: {
    prefix: 'X',
    addresses: {
      authorizeUrl: { fallback: 'https://x.com/i/oauth2/authorize', does: 'Login page of X.' },
      apiUrl: { fallback: 'https://api.x.com', does: 'API of X.' },
      legacyApiUrl: { fallback: 'https://api.twitter.com', does: 'Former API of X, asked for the account when the present one does not tell.' },
    },
    load: () => import('./adapter.ts'),
  } satisfies Protocol<XAddress>,
} satisfies NetworkFacts
