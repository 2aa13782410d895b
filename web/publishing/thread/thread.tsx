import { CircleAlert, ExternalLink, GripVertical, Hourglass, ListTree } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useMutation, useSubscription } from 'urql'
import { Icon } from '../../design/parts/icon.tsx'
import { Note } from '../../design/parts/status.tsx'
import { Link, usePath } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { useBrand } from '../brand/brand.ts'
import { networks } from '../brand/networks.ts'
import { PostStatus } from '../posts/status.tsx'
import { movedTo } from './order.ts'
import { OrderThreadDocument, ThreadChangesDocument, ThreadDocument, type ThreadFieldsFragment, type ThreadPostFragment } from './thread.generated.ts'

/** A thread in its order: each post with how it stands; posts that are not out yet change places by drag or by keys. */
export default function ThreadPage() {
  const id = /^\/threads\/([^/]+)$/.exec(usePath())?.[1] ?? ''
  const { data, state, problem, retry } = useRead(ThreadDocument, { id })
  const thread = data?.postThread
  const { brands } = useBrand()
  const zone = brands.find(each => each.id === thread?.brandId)?.timeZone
  useSubscription({ query: ThreadChangesDocument, variables: { brandId: thread?.brandId ?? '', threadId: id }, pause: !thread })
  return (
    <Page title={thread?.title || say('thread.title')}>
      <Region isFlush state={data && !thread ? 'error' : state} problem={problem} retry={retry} empty={{ icon: ListTree, sentence: say('lost.sentence') }}>
        {thread && <Posts key={thread.id} thread={thread} zone={zone} />}
      </Region>
    </Page>
  )
}

function Posts({ thread, zone }: { readonly thread: ThreadFieldsFragment; readonly zone: string | undefined }) {
  const [{ error }, reorder] = useMutation(OrderThreadDocument)
  const mayWrite = useRights().may('publishing:posts.write')
  const posts = (thread.posts ?? []).flatMap(each => (each ? [each] : []))
  const known = posts.map(({ id }) => id)
  const [order, setOrder] = useState<readonly string[] | null>(null)
  const [held, setHeld] = useState<string | null>(null)
  const [said, setSaid] = useState('')
  const focusNext = useRef<string | null>(null)
  const shown = (order ?? known).flatMap(id => posts.find(post => post.id === id) ?? [])
  const problem = problemOf(error)
  const nameOf = ({ title, copy }: ThreadPostFragment) => title || copy || say('posts.without-text')
  useEffect(() => {
    if (focusNext.current) document.querySelector<HTMLElement>(`[data-post="${focusNext.current}"] button`)?.focus()
    focusNext.current = null
  })
  async function put(ids: readonly string[]) {
    setHeld(null)
    if (ids.join() === known.join()) return setOrder(null)
    setOrder(ids)
    const answer = await reorder({ input: { id: thread.id, postIds: ids, expectedVersion: thread.version } })
    setSaid(say(answer.error ? 'thread.back' : 'thread.put'))
    // What the graph says stands from here on: the new order, or the one before.
    setOrder(null)
  }
  function press(post: ThreadPostFragment, key: string): boolean {
    const ids = order ?? known
    if (key === 'Enter' || key === ' ') {
      if (held === post.id) void put(ids)
      else {
        setHeld(post.id)
        setSaid(say('thread.held', { title: nameOf(post) }))
      }
      focusNext.current = post.id
      return true
    }
    if (held !== post.id) return false
    if (key === 'Escape') {
      setHeld(null)
      setOrder(null)
      setSaid(say('thread.left'))
      focusNext.current = post.id
      return true
    }
    const step = key === 'ArrowUp' ? -1 : key === 'ArrowDown' ? 1 : 0
    if (step === 0) return false
    const next = movedTo(ids, post.id, ids.indexOf(post.id) + step)
    setOrder(next)
    setSaid(say('thread.place', { place: next.indexOf(post.id) + 1, count: next.length }))
    focusNext.current = post.id
    return true
  }
  return (
    <>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <p className="unseen" role="status">
        {said}
      </p>
      <ol className="list thread">
        {shown.map((post, at) => {
          const mayMove = mayWrite && shown.length > 1 && (post.status === 'DRAFT' || post.status === 'SCHEDULED') && post.deliveryPhase === 'NONE'
          return (
            <li
              key={post.id}
              data-post={post.id}
              className={held === post.id ? 'moving' : undefined}
              draggable={mayMove}
              onDragStart={event => event.dataTransfer.setData('text/plain', post.id)}
              onDragOver={event => event.preventDefault()}
              onDrop={event => {
                const id = event.dataTransfer.getData('text/plain')
                if (known.includes(id)) void put(movedTo(known, id, at))
              }}
            >
              {mayMove ? (
                <button
                  type="button"
                  className="handle"
                  aria-label={say('thread.move', { title: nameOf(post) })}
                  aria-pressed={held === post.id}
                  onKeyDown={event => press(post, event.key) && event.preventDefault()}
                >
                  <Icon of={GripVertical} />
                </button>
              ) : (
                <span className="handle" />
              )}
              <span className="figures quiet">{at + 1}</span>
              <PostLine post={post} zone={zone} />
            </li>
          )
        })}
      </ol>
    </>
  )
}

const number = new Intl.NumberFormat(locale)

function PostLine({ post, zone }: { readonly post: ThreadPostFragment; readonly zone: string | undefined }) {
  const at = post.publishedAt ?? post.scheduledAt
  const latest = post.analytics?.latest
  const figures = (['impressions', 'likes', 'comments'] as const).flatMap(name => {
    const value = latest?.[name] ?? null
    return value === null ? [] : [`${say(`figures.${name}`)} ${number.format(value)}`]
  })
  return (
    <div className="grow">
      <p dir="auto" className="text">
        <Link to={`/posts/${post.id}`}>{post.title || post.copy || say('posts.without-text')}</Link>
      </p>
      <p className="quiet small">
        <PostStatus post={post} /> {[networks[post.platform], at && moment(at, zone), ...figures].filter(Boolean).join(' · ')}
        {post.permalink && (
          <>
            {' · '}
            <a href={post.permalink} target="_blank" rel="noopener noreferrer">
              {say('posts.permalink', { network: networks[post.platform] })} <Icon of={ExternalLink} />
            </a>
          </>
        )}
      </p>
      {post.failure && (
        <Note meaning="danger" icon={CircleAlert}>
          {post.failure.message} {post.failure.advice}
        </Note>
      )}
      {post.waitsFor && (
        <Note meaning="warning" icon={Hourglass}>
          {say('posts.waits-for', { title: post.waitsFor.title || post.waitsFor.copy || say('posts.without-text') })}
        </Note>
      )}
    </div>
  )
}
