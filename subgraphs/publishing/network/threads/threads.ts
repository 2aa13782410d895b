import twitterText from 'twitter-text'
import { emojiAsBytes } from '../content/check.ts'
import { mediaRules } from '../content/media.ts'
import type { NetworkFacts, Protocol } from '../network.ts'
import type { ThreadsAddress } from './adapter.ts'

/**
 * Maximum number of different links in a post on Threads (https://developers.facebook.com/docs/threads/posts, read
 * 2026-11-24).
 */
const maxLinks = 5

/** Addresses with a scheme, whatever their domain: the library knows no top-level domains since 2020. */
const written = /https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]}'’”]/gi

function tooManyLinks(copy: string, link: string | null): string | null {
  const addresses = copy.match(written) ?? []
  const bare = twitterText.extractUrls(copy.replaceAll(written, ' '))
  const links = new Set([...addresses, ...bare, ...(link === null ? [] : [link])])
  return links.size > maxLinks ? `Threads takes ${maxLinks} links in a post, and this one has ${links.size}: leave some out.` : null
}

/** Threads accounts: short texts, and threads as chains of replies. */
export const threads = {
  title: 'Threads',
  path: 'threads',
  targets: ['THREAD_ACCOUNT'],
  capabilities: { firstComment: true, analytics: false, thread: 'REPLY', lookup: 'BY_ID' },
  content: {
    copy: 500,
    measure: emojiAsBytes,
    objectionToLinks: tooManyLinks,
    link: 'TEXT_BESIDE_MEDIA',
    title: null,
    media: mediaRules.THREADS,
    visibility: null,
  },
  protocol: {
    prefix: 'THREADS',
    addresses: {
      authorizeUrl: { fallback: 'https://www.threads.com/oauth/authorize', does: 'Login page of Threads.' },
      apiUrl: { fallback: 'https://graph.threads.net', does: 'API of Threads.' },
    },
    load: () => import('./adapter.ts'),
  } satisfies Protocol<ThreadsAddress>,
} satisfies NetworkFacts
