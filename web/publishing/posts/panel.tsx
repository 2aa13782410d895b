import { CircleAlert, CircleHelp, ExternalLink, Hourglass, Lightbulb, ListTree, Plug, TriangleAlert, X } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Note } from '../../design/parts/status.tsx'
import { goTo, Link } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import type { Brand } from '../brand/brand.ts'
import { networks } from '../brand/networks.ts'
import { Preview } from '../media/preview.tsx'
import { PostActions } from './actions.tsx'
import { Figures } from './figures.tsx'
import { Approvals, Attempts, Versions } from './history.tsx'
import { PostDetailDocument, type PostDetailsFragment } from './posts.generated.ts'
import { Resolve } from './resolve.tsx'
import { PostStatus, standOf } from './status.tsx'

/** One post beside its list: what it says, how it stands, and what can be done next. @param back the list's address */
export function PostPanel({ id, brand, back }: { readonly id: string; readonly brand: Brand | null; readonly back: string }) {
  const { data, state, problem, retry } = useRead(PostDetailDocument, { id })
  const post = data?.post
  useReadAgain(post ?? null, retry)
  const title = (
    <>
      {post && <PostStatus post={post} />}
      <h2 className="clip">{post ? networks[post.platform] : say('posts.detail')}</h2>
    </>
  )
  return (
    <Region
      className="panel"
      aria-label={say('posts.detail')}
      data-post={id}
      title={title}
      tools={<Button kind="quiet" icon={X} name={say('action.close')} onPress={() => goTo(back)} />}
      state={data && !post ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {post && <Details post={post} zone={brand?.timeZone} />}
    </Region>
  )
}

/** Reads the rest of a post again when the stream has told of its state: attempts, failure and versions come with it. */
function useReadAgain(post: PostDetailsFragment | null, retry: () => void): void {
  const stamp = post && `${post.version} ${post.status} ${post.deliveryPhase}`
  const seen = useRef<string | null>(null)
  useEffect(() => {
    if (stamp === null) return
    if (seen.current !== null && seen.current !== stamp) retry()
    seen.current = stamp
  })
}

/** What a post says, how it stands, and what can be done. */
export function Details({ post, zone }: { readonly post: PostDetailsFragment; readonly zone: string | undefined }) {
  const mayWrite = useRights().may('publishing:posts.write')
  const stand = standOf(post)
  return (
    <>
      {post.title && <h3 dir="auto">{post.title}</h3>}
      <p className="text" dir="auto">
        {post.copy || say('posts.without-text')}
      </p>
      {post.media.length > 0 && (
        <ul className="shown">
          {post.media.map(
            ({ asset, altText }) =>
              asset && (
                <li key={asset.id}>
                  <Preview url={asset.previewBroken ? null : asset.previewUrl} alt={altText || asset.title || asset.filename} kind={asset.kind} />
                </li>
              ),
          )}
        </ul>
      )}
      <Notes post={post} stand={stand} />
      {stand === 'UNKNOWN' && <Resolve post={post} mayWrite={mayWrite} />}
      {mayWrite && <PostActions post={post} zone={zone} />}
      <Figures post={post} />
      <Facts post={post} zone={zone} />
      <Attempts post={post} zone={zone} />
      <Approvals post={post} zone={zone} />
      <Versions post={post} zone={zone} mayRestore={mayWrite && (post.status === 'DRAFT' || post.status === 'SCHEDULED') && post.deliveryPhase === 'NONE'} />
    </>
  )
}

/** What has to be known before anything is done. */
function Notes({ post, stand }: { readonly post: PostDetailsFragment; readonly stand: string }) {
  const { failure, waitsFor, firstComment } = post
  return (
    <>
      {failure && (
        <>
          <Note meaning="danger" icon={CircleAlert}>
            {failure.message}
          </Note>
          <Note meaning="plain" icon={Lightbulb}>
            {failure.advice}
          </Note>
          {failure.category === 'ACCESS' && (
            <Link className="button secondary" to="/integrations">
              <Icon of={Plug} />
              {say('posts.reconnect')}
            </Link>
          )}
        </>
      )}
      {waitsFor && stand !== 'UNKNOWN' && (
        <Note meaning="warning" icon={Hourglass}>
          <Link to={`/posts/${waitsFor.id}`}>{say('posts.waits-for', { title: waitsFor.title || waitsFor.copy || say('posts.without-text') })}</Link>
        </Note>
      )}
      {firstComment?.status === 'FAILED' && firstComment.message && (
        <Note meaning="warning" icon={TriangleAlert}>
          {firstComment.message}
        </Note>
      )}
      {post.problems.map(({ code, message, severity }) => (
        <Note key={code} meaning={severity === 'ERROR' ? 'danger' : 'warning'} icon={CircleHelp}>
          {message}
        </Note>
      ))}
    </>
  )
}

function Facts({ post, zone }: { readonly post: PostDetailsFragment; readonly zone: string | undefined }) {
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['posts.scheduled', post.scheduledAt && moment(post.scheduledAt, zone)],
    ['posts.published', post.publishedAt && moment(post.publishedAt, zone)],
    ['posts.phase', post.deliveryPhase === 'NONE' ? null : say(`phase.${post.deliveryPhase}`)],
    ['posts.author', post.author?.name],
    ['posts.created', moment(post.createdAt, zone)],
    ['posts.campaign', post.campaign?.name],
    ['posts.first-comment', post.firstComment?.text],
    ['posts.tags', post.tags.join(', ')],
  ]
  const count = (post.thread?.posts ?? []).length
  return (
    <>
      <dl className="facts">
        {facts.flatMap(([name, value]) =>
          value
            ? [
                <dt key={name}>{say(name)}</dt>,
                <dd key={`${name} value`} className="figures">
                  {value}
                </dd>,
              ]
            : [],
        )}
      </dl>
      {count > 1 && (
        <p>
          <Link to={`/threads/${post.thread!.id}`}>
            <Icon of={ListTree} /> {say('posts.thread', { count })}
          </Link>
        </p>
      )}
      {post.permalink && (
        <p>
          <a href={post.permalink} target="_blank" rel="noopener noreferrer">
            {say('posts.permalink', { network: networks[post.platform] })} <Icon of={ExternalLink} />
          </a>
        </p>
      )}
    </>
  )
}
