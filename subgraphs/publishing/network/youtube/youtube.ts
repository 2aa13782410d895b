import { bytesOf } from '../content/check.ts'
import { mediaRules } from '../content/media.ts'
import type { NetworkFacts, Protocol } from '../network.ts'
import type { YoutubeAddress } from './oauth.ts'
import { maxTagCharacters, tagsWithin } from './tags.ts'

/** YouTube channels: one film per post, with a title. */
export const youtube = {
  title: 'YouTube',
  path: 'youtube',
  targets: [],
  capabilities: { firstComment: false, analytics: true, thread: 'SEPARATE', lookup: 'BY_ID' },
  content: {
    copy: 5000,
    measure: bytesOf,
    objection: copy => (/[<>]/.test(copy) ? 'YouTube takes no < and no > in what is said of a film: write it without them.' : null),
    objectionToTags: tags =>
      tagsWithin(tags).length < tags.length
        ? `YouTube takes ${maxTagCharacters} characters of tags, those of quotes and commas among them: leave some out.`
        : null,
    link: 'TEXT',
    title: {
      most: 100,
      needed: true,
      objection: title => (/[<>]/.test(title) ? 'YouTube takes no < and no > in a title: write it without them.' : null),
    },
    media: mediaRules.YOUTUBE,
    visibility: 'PRIVATE',
  },
  protocol: {
    prefix: 'YOUTUBE',
    needs:
      'the YouTube Data API, and Google’s audit of it: before that films stay private. Films go by way of the gateway to providers, whose client `app_publishing` has VIDEO',
    addresses: {
      authorizeUrl: { fallback: 'https://accounts.google.com/o/oauth2/v2/auth', does: 'Login page of Google.' },
      tokenUrl: { fallback: 'https://oauth2.googleapis.com/token', does: 'Token address of Google; `revoke` is beside it.' },
    },
    viaGateway: true,
    load: () => import('./adapter.ts'),
  } satisfies Protocol<YoutubeAddress>,
} satisfies NetworkFacts
