import { CheckCheck } from 'lucide-react'
import { useEffect } from 'react'
import { useSubscription } from 'urql'
import { goTo, Link, useSearch, withSearch } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { useBrand } from '../brand/brand.ts'
import { networks } from '../brand/networks.ts'
import { PendingChangesDocument, PendingPostsDocument } from './approvals.generated.ts'
import { Decision } from './decision.tsx'

/** What waits for a decision: one beside the list with what changed; the next by key. Decisions are drawn for those alone who may make them. */
export default function Approvals() {
  const { brand, isKnown } = useBrand()
  const search = useSearch()
  const self = useRights()
  const { data, state, problem, retry } = useRead(
    PendingPostsDocument,
    { brandId: brand?.id ?? '' },
    { pause: !brand, isEmpty: ({ posts }) => posts?.nodes?.every(each => each?.approval !== 'PENDING') ?? true },
  )
  useSubscription({ query: PendingChangesDocument, variables: { brandId: brand?.id ?? '' }, pause: !brand }, (_, told) => {
    if (told.postStatusChanged?.approval === 'PENDING') retry()
    return told
  })
  const posts = (data?.posts?.nodes ?? []).flatMap(each => (each?.approval === 'PENDING' ? [each] : []))
  const id = search.get('post') ?? posts[0]?.id ?? null
  const at = posts.findIndex(each => each.id === id)
  const isManager = self.roles.some(role => role === 'OWNER' || role === 'ADMIN')
  const isApprover = (data?.brand?.approvers ?? []).some(each => each?.id === self.id)
  const open = (next: string | null) => goTo(withSearch('/approvals', search, { post: next }), { replace: true })
  const step = (by: number) => posts[at + by] && open(posts[at + by]!.id)
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /^(?:input|textarea|select)$/i.test((event.target as Element).tagName)) return
      if (event.key === 'j') step(1)
      if (event.key === 'k') step(-1)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  })
  return (
    <Page title={say('approvals.title')}>
      <div className={id && posts.length > 0 ? 'beside open even' : 'beside'}>
        <Region
          isFlush
          state={isKnown && !brand ? 'empty' : state}
          problem={problem}
          retry={retry}
          empty={{ icon: CheckCheck, sentence: say(brand ? 'approvals.empty' : 'brand.none') }}
        >
          <ul className="list">
            {posts.map(post => (
              <li key={post.id} data-post={post.id} aria-current={post.id === id ? 'true' : undefined}>
                <div className="grow">
                  <Link className="clip" to={withSearch('/approvals', search, { post: post.id })}>
                    {post.title || post.copy || say('posts.without-text')}
                  </Link>
                  <p className="quiet small">
                    {[networks[post.platform], post.author?.name, post.scheduledAt && moment(post.scheduledAt, brand?.timeZone)].filter(Boolean).join(' · ')}
                  </p>
                </div>
              </li>
            ))}
          </ul>
          <p className="pager">{say('approvals.keys')}</p>
        </Region>
        {id && posts.length > 0 && (
          <Decision
            key={id}
            id={id}
            zone={brand?.timeZone}
            mayDecide={isManager || isApprover}
            selfId={self.id}
            isOwner={self.roles.includes('OWNER')}
            onDecided={() => {
              const next = posts[at + 1] ?? posts[at - 1] ?? null
              open(next?.id ?? null)
              retry()
            }}
          />
        )}
      </div>
    </Page>
  )
}
