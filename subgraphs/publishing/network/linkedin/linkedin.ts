import { codePoints } from '../content/check.ts'
import { mediaRules } from '../content/media.ts'
import type { NetworkFacts, Protocol } from '../network.ts'
import type { LinkedinAddress } from './oauth.ts'

/** LinkedIn for persons: its API cannot look up posts or publish comments for a person. */
export const linkedin = {
  title: 'LinkedIn (person)',
  path: 'linkedin',
  targets: [],
  capabilities: { firstComment: false, analytics: false, thread: 'SEPARATE', lookup: 'NONE' },
  content: {
    copy: 3000,
    measure: codePoints,
    link: 'TEXT_BESIDE_MEDIA',
    title: null,
    media: mediaRules.LINKEDIN,
    visibility: null,
  },
  protocol: {
    prefix: 'LINKEDIN',
    needs: 'the products “Sign In with LinkedIn using OpenID Connect” and “Share on LinkedIn”, which LinkedIn gives at once',
    addresses: {
      authorizeUrl: { fallback: 'https://www.linkedin.com/oauth/v2/authorization', does: 'Login page of LinkedIn, for persons and pages.' },
      tokenUrl: { fallback: 'https://www.linkedin.com/oauth/v2/accessToken', does: 'Token address of LinkedIn; `revoke` is beside it.' },
      apiUrl: { fallback: 'https://api.linkedin.com', does: 'API of LinkedIn.' },
    },
    settings: {
      version: {
        fallback: '202610',
        does: 'API version. LinkedIn ends each after a year and answers 426 from then on.',
        pattern: /^20\d\d(?:0[1-9]|1[0-2])$/,
        means: 'must be a month such as 202610',
      },
    },
    load: () => import('./person.ts'),
  } satisfies Protocol<LinkedinAddress, 'version'>,
} satisfies NetworkFacts
