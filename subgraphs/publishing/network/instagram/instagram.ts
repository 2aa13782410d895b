import { codePoints } from '../check.ts'
import { graphVersion } from '../meta/version.ts'
import type { NetworkFacts, Protocol } from '../network.ts'
import type { InstagramAddress } from './adapter.ts'

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
  protocol: {
    prefix: 'INSTAGRAM',
    addresses: {
      authorizeUrl: { fallback: 'https://www.instagram.com/oauth/authorize', does: 'Where Instagram asks people.' },
      tokenUrl: { fallback: 'https://api.instagram.com/oauth/access_token', does: 'Where Instagram takes codes.' },
      apiUrl: { fallback: 'https://graph.instagram.com', does: 'Where Instagram is called, and lengthens tokens.' },
    },
    settings: { version: graphVersion('Instagram') },
    load: () => import('./adapter.ts'),
  } satisfies Protocol<InstagramAddress, 'version'>,
} satisfies NetworkFacts
