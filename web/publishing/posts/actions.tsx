import { Send, Trash2, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo, Link } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { Failure } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { networks } from '../brand/networks.ts'
import { DeletePostDocument, type PostDetailsFragment, PublishPostNowDocument, RevertPostDocument } from './posts.generated.ts'
import { Reschedule } from './reschedule.tsx'
import { standOf } from './status.tsx'

/** What can be done with a post as it stands. Nothing is shown as done before the graph has answered that it is. */
export function PostActions({ post, zone }: { readonly post: PostDetailsFragment; readonly zone: string | undefined }) {
  const [reverted, revert] = useMutation(RevertPostDocument)
  const [published, publish] = useMutation(PublishPostNowDocument)
  const [deleted, drop] = useMutation(DeletePostDocument)
  const [asks, setAsks] = useState<'reschedule' | 'publish' | 'delete' | null>(null)
  const problem = problemOf(reverted.error ?? published.error ?? deleted.error)
  const isBusy = reverted.fetching || published.fetching || deleted.fetching
  const input = { id: post.id, expectedVersion: post.version }
  const mayMove = ['SCHEDULED', 'FAILED', 'HELD', 'WAITING'].includes(standOf(post))
  const isDraft = post.status === 'DRAFT'
  const close = () => setAsks(null)
  async function remove() {
    close()
    const { data } = await drop({ input })
    if (!data?.deletePost) return
    toast({ sentence: say('posts.deleted') })
    goTo('/posts')
  }
  return (
    <>
      <div className="actions">
        {mayMove && <Button onPress={() => setAsks('reschedule')}>{say('posts.reschedule')}</Button>}
        {(mayMove || isDraft) && (
          <Button icon={Send} isDisabled={isBusy} onPress={() => setAsks('publish')}>
            {say('posts.publish')}
          </Button>
        )}
        {post.status === 'SCHEDULED' && mayMove && (
          <Button icon={Undo2} isDisabled={isBusy} onPress={() => void revert({ input })}>
            {say('posts.revert')}
          </Button>
        )}
        {isDraft && (
          <Link className="button secondary" to={`/compose/${post.id}`}>
            {say('posts.edit')}
          </Link>
        )}
        {(isDraft || post.status === 'FAILED') && standOf(post) !== 'UNKNOWN' && (
          <Button kind="quiet" icon={Trash2} isDisabled={isBusy} onPress={() => setAsks('delete')}>
            {say('posts.delete')}
          </Button>
        )}
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {asks === 'reschedule' && <Reschedule post={post} zone={zone} onClose={close} />}
      {asks === 'publish' && (
        <Confirm
          title={say('posts.publish')}
          sentence={say('posts.publish-sure', { network: networks[post.platform] })}
          verb={say('posts.publish')}
          isDanger={false}
          onClose={close}
          onConfirm={() => {
            close()
            void publish({ input })
          }}
        />
      )}
      {asks === 'delete' && (
        <Confirm title={say('posts.delete')} sentence={say('posts.delete-sure')} verb={say('posts.delete')} onClose={close} onConfirm={() => void remove()} />
      )}
    </>
  )
}
