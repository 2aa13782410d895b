import { Ban, CheckCheck, CircleAlert, Info, MessageSquareWarning, Pause, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Diff } from '../../design/history/diff.tsx'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Note } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { networks } from '../brand/networks.ts'
import { Preview } from '../media/preview.tsx'
import { DecideDocument, PendingPostDocument, type PendingPostQuery, type PostDecision } from './approvals.generated.ts'
import { textBefore } from './changed.ts'

interface DecisionProps {
  readonly id: string
  readonly zone: string | undefined
  readonly mayDecide: boolean
  readonly selfId: string | null
  readonly isOwner: boolean
  onDecided(): void
}

/** One post that waits: what it says and what changed, and the decision. */
export function Decision({ id, zone, mayDecide, selfId, isOwner, onDecided }: DecisionProps) {
  const { data, state, problem, retry } = useRead(PendingPostDocument, { id })
  const post = data?.post
  const isOwn = post?.author?.id === selfId
  return (
    <Region
      className="panel"
      aria-label={say('approvals.detail')}
      data-post={id}
      title={post ? networks[post.platform] : ''}
      state={data && !post ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {post && (
        <>
          <Content post={post} zone={zone} />
          {mayDecide && (!isOwn || isOwner) ? (
            <Form post={post} onDecided={onDecided} />
          ) : (
            <Note meaning="plain" icon={Info}>
              {say(isOwn && mayDecide ? 'approvals.own' : 'approvals.not-you')}
            </Note>
          )}
        </>
      )}
    </Region>
  )
}

type Pending = NonNullable<PendingPostQuery['post']>

function Content({ post, zone }: { readonly post: Pending; readonly zone: string | undefined }) {
  const before = textBefore(
    post.copy,
    (post.versions ?? []).flatMap(each => each ?? []),
  )
  const comments = (post.approvalEvents ?? []).flatMap(each => (each?.comment ? [each] : []))
  return (
    <>
      {post.title && <h3 dir="auto">{post.title}</h3>}
      {before === null ? (
        <p className="text" dir="auto">
          {post.copy || say('posts.without-text')}
        </p>
      ) : (
        <>
          <p className="quiet small">{say('approvals.changed')}</p>
          <Diff before={before} after={post.copy} />
        </>
      )}
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
      <p className="quiet small">
        {[post.author?.name, post.scheduledAt ? moment(post.scheduledAt, zone) : say('posts.no-time'), post.campaign?.name, post.link]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {post.problems.map(({ code, message, severity }) => (
        <Note key={code} meaning={severity === 'ERROR' ? 'danger' : 'warning'} icon={severity === 'ERROR' ? CircleAlert : TriangleAlert}>
          {message}
        </Note>
      ))}
      {comments.map(({ at, comment, user }) => (
        <blockquote key={at}>
          <p dir="auto">{comment}</p>
          <p className="quiet small">{[user?.name, moment(at, zone)].filter(Boolean).join(' · ')}</p>
        </blockquote>
      ))}
    </>
  )
}

/** Decisions that say why. */
const explained: readonly PostDecision[] = ['REQUEST_CHANGES', 'REJECT']

function Form({ post, onDecided }: { readonly post: Pending; onDecided(): void }) {
  const [{ error, fetching }, decide] = useMutation(DecideDocument)
  const [comment, setComment] = useState('')
  const [wrong, setWrong] = useState<string | null>(null)
  const problem = problemOf(error)
  async function send(decision: PostDecision) {
    const text = comment.trim()
    setWrong(explained.includes(decision) && text === '' ? say('approvals.comment-missing') : null)
    if (explained.includes(decision) && text === '') return
    const { data } = await decide({ input: { id: post.id, decision, expectedVersion: post.version, ...(text && { comment: text }) } })
    if (!data?.decidePost) return
    toast({ sentence: say(`approvals.did-${decision}`) })
    onDecided()
  }
  const button = (decision: PostDecision, icon: typeof Ban, kind: 'primary' | 'secondary' | 'danger' | 'quiet') => (
    <Button kind={kind} icon={icon} isDisabled={fetching} onPress={() => void send(decision)}>
      {say(`approvals.${decision}`)}
    </Button>
  )
  return (
    <>
      <Field label={say('approvals.comment')} value={comment} onChange={setComment} rows={3} hint={say('approvals.comment-hint')} wrong={wrong} />
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <div className="actions">
        {button('APPROVE', CheckCheck, 'primary')}
        {button('REQUEST_CHANGES', MessageSquareWarning, 'secondary')}
        {button('REJECT', Ban, 'danger')}
        {button('HOLD', Pause, 'quiet')}
      </div>
    </>
  )
}
