import { CircleHelp, ExternalLink, Lightbulb, Send, Undo2, X } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Note } from '../../design/parts/status.tsx'
import { goTo, Link } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import type { Brand } from '../brand/brand.ts'
import { networks } from '../brand/networks.ts'
import { PostDetailDocument, type PostDetailsFragment, PublishPostNowDocument, RevertPostDocument } from './posts.generated.ts'
import { Reschedule } from './reschedule.tsx'
import { PostStatus, standOf } from './status.tsx'

/** One post beside its list: what it says, how it stands, and what can be done next. @param back the list's address */
export function PostPanel({ id, brand, back }: { readonly id: string; readonly brand: Brand | null; readonly back: string }) {
  const { data, state, problem, retry } = useRead(PostDetailDocument, { id })
  const post = data?.post
  const title = (
    <>
      {post && <PostStatus post={post} />}
      <h2 className="clip">{post ? networks[post.platform] : ''}</h2>
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

function Details({ post, zone }: { readonly post: PostDetailsFragment; readonly zone: string | undefined }) {
  const stand = standOf(post)
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['posts.scheduled', post.scheduledAt && moment(post.scheduledAt, zone)],
    ['posts.published', post.publishedAt && moment(post.publishedAt, zone)],
    ['posts.author', post.author?.name],
    ['posts.created', moment(post.createdAt, zone)],
    ['posts.tags', post.tags.join(', ')],
  ]
  return (
    <>
      <p className="text" dir="auto">
        {post.copy || say('posts.without-text')}
      </p>
      {post.failure && (
        <>
          <Note meaning="danger" icon={CircleHelp}>
            {post.failure.message}
          </Note>
          <Note meaning="plain" icon={Lightbulb}>
            {post.failure.advice}
          </Note>
        </>
      )}
      {stand === 'UNKNOWN' && (
        <Note meaning="warning" icon={CircleHelp}>
          {say('posts.unknown')}
        </Note>
      )}
      {post.problems.map(({ code, message, severity }) => (
        <Note key={code} meaning={severity === 'ERROR' ? 'danger' : 'warning'} icon={CircleHelp}>
          {message}
        </Note>
      ))}
      <PostActions post={post} zone={zone} />
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

/** What can be done with a post as it stands. Nothing is shown as done before the graph has answered that it is. */
function PostActions({ post, zone }: { readonly post: PostDetailsFragment; readonly zone: string | undefined }) {
  const [reverted, revert] = useMutation(RevertPostDocument)
  const [published, publish] = useMutation(PublishPostNowDocument)
  const [asks, setAsks] = useState<'reschedule' | 'publish' | null>(null)
  const problem = problemOf(reverted.error ?? published.error)
  const isBusy = reverted.fetching || published.fetching
  const input = { id: post.id, expectedVersion: post.version }
  const mayMove = ['SCHEDULED', 'FAILED', 'HELD', 'WAITING'].includes(standOf(post))
  const close = () => setAsks(null)
  return (
    <>
      <div className="actions">
        {mayMove && <Button onPress={() => setAsks('reschedule')}>{say('posts.reschedule')}</Button>}
        {(mayMove || post.status === 'DRAFT') && (
          <Button icon={Send} isDisabled={isBusy} onPress={() => setAsks('publish')}>
            {say('posts.publish')}
          </Button>
        )}
        {post.status === 'SCHEDULED' && mayMove && (
          <Button icon={Undo2} isDisabled={isBusy} onPress={() => void revert({ input })}>
            {say('posts.revert')}
          </Button>
        )}
        {post.status === 'DRAFT' && (
          <Link className="button secondary" to={`/compose/${post.id}`}>
            {say('posts.edit')}
          </Link>
        )}
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {asks === 'reschedule' && <Reschedule post={post} zone={zone} onClose={close} />}
      {asks === 'publish' && (
        <Dialog title={say('posts.publish')} onClose={close}>
          <p>{say('posts.publish-sure', { network: networks[post.platform] })}</p>
          <div className="actions">
            <Button onPress={close}>{say('action.cancel')}</Button>
            <Button
              kind="primary"
              onPress={() => {
                close()
                void publish({ input })
              }}
            >
              {say('posts.publish')}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
