import { mediaRules } from '../content/media.ts'
import type { NetworkFacts, Protocol } from '../network.ts'
import { linkedin } from './linkedin.ts'
import type { LinkedinAddress } from './oauth.ts'

/** LinkedIn for organizations: its content rules are the same as for persons. */
export const linkedinPage = {
  title: 'LinkedIn (company page)',
  path: 'linkedin-page',
  targets: ['ORGANIZATION'],
  capabilities: { firstComment: true, analytics: true, thread: 'COMMENT', lookup: 'BY_LISTING' },
  // https://learn.microsoft.com/linkedin/marketing/community-management/shares/comments-api
  content: { ...linkedin.content, comment: 1_250, media: mediaRules.LINKEDIN_PAGE },
  protocol: {
    ...linkedin.protocol,
    prefix: 'LINKEDIN_PAGE',
    needs: 'the product “Community Management API”, which LinkedIn reviews, and gives to applications without any other',
    at: 'LINKEDIN',
    load: () => import('./organization.ts'),
  } satisfies Protocol<LinkedinAddress, 'version'>,
} satisfies NetworkFacts
