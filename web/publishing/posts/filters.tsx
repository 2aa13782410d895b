import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { say } from '../../shell/words.ts'
import { networks, platforms } from '../brand/networks.ts'
import type { Platform, PostApproval, PostStatus } from './posts.generated.ts'

const statuses: readonly PostStatus[] = ['DRAFT', 'SCHEDULED', 'PUBLISHED', 'FAILED']
const approvals: readonly PostApproval[] = ['PENDING', 'APPROVED', 'CHANGES_REQUESTED', 'REJECTED']

const pills = (): readonly (Pill & { readonly name: 'status' | 'platform' | 'approval' })[] => [
  { name: 'status', heading: say('filter.status'), values: statuses, title: value => say(`post.${value}`) },
  { name: 'platform', heading: say('filter.platform'), values: platforms, title: value => networks[value as Platform] },
  { name: 'approval', heading: say('filter.approval'), values: approvals, title: value => say(`approval.${value}`) },
]

/** The filters of `posts` that an address names; values that there are none of count as not named. */
export function filtersIn(search: URLSearchParams): { status?: PostStatus; platform?: Platform; approval?: PostApproval; search?: string } {
  const text = search.get('search')?.trim()
  return { ...(chosenOf(search, pills()) as { status?: PostStatus; platform?: Platform; approval?: PostApproval }), ...(text && { search: text }) }
}

/** The filters of the list of posts. */
export const PostFilters = ({ search }: { readonly search: URLSearchParams }) => (
  <Filters path="/posts" search={search} pills={pills()} text={{ name: 'search', heading: say('filter.search') }} />
)
