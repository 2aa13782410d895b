import type { NetworkFacts } from '../network.ts'
import { linkedin } from './linkedin.ts'

/** LinkedIn as an organization: takes what the network takes of persons. */
export const linkedinPage = {
  title: 'LinkedIn (company page)',
  path: 'linkedin-page',
  targets: ['ORGANIZATION'],
  capabilities: { firstComment: true, analytics: true, thread: 'COMMENT', lookup: 'BY_LISTING' },
  content: linkedin.content,
  protocol: null,
} satisfies NetworkFacts
