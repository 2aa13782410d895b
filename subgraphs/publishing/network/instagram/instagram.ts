import { codePoints } from '../content/check.ts'
import { mediaRules } from '../content/media.ts'
import { graphVersion } from '../meta/version.ts'
import type { NetworkFacts, Protocol } from '../network.ts'
import type { InstagramAddress } from './adapter.ts'

/**
 * Instagram's limits for a caption (https://developers.facebook.com/docs/instagram-platform/content-publishing, read
 * 2026-11-24).
 */
const maxMarks = { hashtags: 30, mentions: 20 } as const

function tooManyMarks(caption: string): string | null {
  const hashtags = caption.match(/#[\p{L}\p{N}_]+/gu)?.length ?? 0
  if (hashtags > maxMarks.hashtags) return `Instagram takes ${maxMarks.hashtags} hashtags in a text, and this one has ${hashtags}: leave some out.`
  const mentions = caption.match(/(?<![\p{L}\p{N}_.])@[\p{L}\p{N}_.]+/gu)?.length ?? 0
  return mentions > maxMarks.mentions ? `Instagram takes ${maxMarks.mentions} mentions in a text, and this one has ${mentions}: leave some out.` : null
}

/** Instagram business accounts: posts with pictures and films, never text-only posts. */
export const instagram = {
  title: 'Instagram',
  path: 'instagram',
  targets: ['PHOTO_ACCOUNT'],
  capabilities: { firstComment: false, analytics: true, thread: 'SEPARATE', lookup: 'BY_ID' },
  content: {
    copy: 2200,
    measure: codePoints,
    objection: tooManyMarks,
    link: 'TEXT',
    title: null,
    media: mediaRules.INSTAGRAM,
    visibility: null,
  },
  protocol: {
    prefix: 'INSTAGRAM',
    addresses: {
      authorizeUrl: { fallback: 'https://www.instagram.com/oauth/authorize', does: 'Login page of Instagram.' },
      tokenUrl: { fallback: 'https://api.instagram.com/oauth/access_token', does: 'Token address of Instagram.' },
      apiUrl: { fallback: 'https://graph.instagram.com', does: 'API of Instagram.' },
    },
    settings: { version: graphVersion('Instagram') },
    load: () => import('./adapter.ts'),
  } satisfies Protocol<InstagramAddress, 'version'>,
} satisfies NetworkFacts
