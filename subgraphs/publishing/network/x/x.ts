import type { NetworkFacts, Protocol } from '../network.ts'
import type { XAddress } from './oauth.ts'

/** X: short texts, threads as replies. */
export const x = {
  title: 'X',
  path: 'x',
  targets: [],
  protocol: {
    prefix: 'X',
    addresses: {
      authorizeUrl: { fallback: 'https://x.com/i/oauth2/authorize', does: 'Where X asks people. The demo brand is connected by itself at the sandbox only.' },
      apiUrl: { fallback: 'https://api.x.com', does: 'Where X is called.' },
    },
    load: () => import('./adapter.ts'),
  } satisfies Protocol<XAddress>,
} satisfies NetworkFacts
