import { codePoints } from '../content/check.ts'
import { mediaRules } from '../content/media.ts'
import { graphVersion } from '../meta/version.ts'
import type { NetworkFacts, Protocol } from '../network.ts'
import type { FacebookAddress } from './adapter.ts'

/** Facebook: pages, and groups where an operator allows them. */
export const facebook = {
  title: 'Facebook',
  path: 'facebook',
  targets: ['PAGE', 'GROUP'],
  capabilities: { firstComment: true, analytics: true, thread: 'COMMENT', lookup: 'BY_LISTING' },
  content: {
    copy: 63_206,
    comment: 8_000,
    measure: codePoints,
    link: 'TEXT_BESIDE_MEDIA',
    title: null,
    media: mediaRules.FACEBOOK,
    visibility: null,
  },
  protocol: {
    prefix: 'FACEBOOK',
    addresses: {
      authorizeUrl: { fallback: 'https://www.facebook.com', does: 'Login page of Facebook, without version and path.' },
      apiUrl: { fallback: 'https://graph.facebook.com', does: 'API of Facebook.' },
    },
    settings: {
      version: graphVersion('Facebook'),
      groupsEnabled: {
        fallback: '0',
        does: '`1`: ask for `publish_to_groups` too, for posts to groups. Facebook has granted it to no application since April 2024 and refuses logins that ask for it.',
        pattern: /^[01]$/,
        means: 'must be 0 or 1',
      },
    },
    load: () => import('./adapter.ts'),
  } satisfies Protocol<FacebookAddress, 'version' | 'groupsEnabled'>,
} satisfies NetworkFacts
