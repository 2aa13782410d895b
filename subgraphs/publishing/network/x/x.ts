import { mediaRules } from '../content/media.ts'
import type { NetworkFacts, Protocol } from '../network.ts'
import type { XAddress } from './oauth.ts'
import { mostWeight, objection, weightOf } from './text.ts'

/** X: short texts, threads as replies. */
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
      authorizeUrl: { fallback: 'https://x.com/i/oauth2/authorize', does: 'Where X asks people. The demo brand is connected by itself at the sandbox only.' },
      apiUrl: { fallback: 'https://api.x.com', does: 'Where X is called.' },
      legacyApiUrl: { fallback: 'https://api.twitter.com', does: 'Where X is asked whose account it is, when its present address does not tell.' },
    },
    load: () => import('./adapter.ts'),
  } satisfies Protocol<XAddress>,
} satisfies NetworkFacts
