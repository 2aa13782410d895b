import { CircleHelp } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Note } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Failure } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { networks } from '../brand/networks.ts'
import { type PostDetailsFragment, ResolveOutcomeDocument } from './posts.generated.ts'

/** What it means that nobody knows whether the network took it, and the two answers that a person may give. */
export function Resolve({ post, mayWrite }: { readonly post: PostDetailsFragment; readonly mayWrite: boolean }) {
  const [{ error, fetching }, resolve] = useMutation(ResolveOutcomeDocument)
  const [asks, setAsks] = useState<'published' | 'not' | null>(null)
  const [id, setId] = useState('')
  const problem = problemOf(error)
  const network = networks[post.platform]
  async function answer(platformPostId: string | null) {
    const { data } = await resolve({ input: { id: post.id, platformPostId } })
    if (!data?.resolveDelivery) return
    setAsks(null)
    toast({ sentence: say('resolve.done') })
  }
  return (
    <>
      <Note meaning="warning" icon={CircleHelp}>
        {say('posts.unknown')}
      </Note>
      {mayWrite && (
        <div className="actions">
          <Button onPress={() => setAsks('published')}>{say('resolve.published')}</Button>
          <Button onPress={() => setAsks('not')}>{say('resolve.not')}</Button>
        </div>
      )}
      {asks && (
        <Dialog title={say(`resolve.${asks}`)} onClose={() => setAsks(null)}>
          <p>{say(`resolve.${asks}-means`, { network })}</p>
          {asks === 'published' && <Field label={say('resolve.id', { network })} value={id} onChange={setId} hint={say('resolve.id-hint')} required />}
          {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
          <div className="actions">
            <Button onPress={() => setAsks(null)}>{say('action.cancel')}</Button>
            <Button
              kind="primary"
              isDisabled={fetching || (asks === 'published' && id.trim() === '')}
              onPress={() => void answer(asks === 'published' ? id.trim() : null)}
            >
              {say(`resolve.${asks}`)}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
