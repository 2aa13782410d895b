import { Check, X } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { Region } from '../../shell/region.tsx'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type CatalogueQuery, DecideRequestDocument } from './apps.generated.ts'
import { refusalOf } from './verbs.tsx'

type Request = NonNullable<NonNullable<NonNullable<CatalogueQuery['accessRequests']>['nodes']>[number]>

/** Requests for apps that wait for a decision, to whoever decides. */
export function Requests({ requests, reload }: { readonly requests: readonly Request[]; reload(): void }) {
  const [open, setOpen] = useState<{ readonly request: Request; readonly decision: 'APPROVE' | 'DECLINE' } | null>(null)
  return (
    <>
      <Region isFlush title={say('apps.requests')} state="ready">
        <ul className="list">
          {requests.map(request => {
            const name = request.entry?.title ?? request.app
            const named = (key: string) => ({ 'aria-label': say('action.of', { action: say(key), name }), children: say(key) })
            return (
              <li key={request.id} data-request={request.app}>
                <div className="grow">
                  <p className="clip">{name}</p>
                  <p className="quiet small">
                    {request.requestedBy ? `${request.requestedBy.name} · ` : ''}
                    <time dateTime={request.createdAt} title={moment(request.createdAt)}>
                      {lately(request.createdAt)}
                    </time>
                    {request.reason && ` · ${request.reason}`}
                  </p>
                </div>
                <Button icon={Check} onPress={() => setOpen({ request, decision: 'APPROVE' })} {...named('apps.approve')} />
                <Button kind="quiet" icon={X} onPress={() => setOpen({ request, decision: 'DECLINE' })} {...named('apps.decline')} />
              </li>
            )
          })}
        </ul>
      </Region>
      {open && <DecideDialog {...open} onClose={() => setOpen(null)} onDone={reload} />}
    </>
  )
}

function DecideDialog({
  request: { id, app, entry, version },
  decision,
  onClose,
  onDone,
}: {
  readonly request: Request
  readonly decision: 'APPROVE' | 'DECLINE'
  onClose(): void
  onDone(): void
}) {
  const [{ error, fetching }, decide] = useMutation(DecideRequestDocument)
  const [comment, setComment] = useState('')
  const problem = refusalOf(error)
  const name = entry?.title ?? app
  const verb = say(decision === 'APPROVE' ? 'apps.approve' : 'apps.decline')
  async function save() {
    const { data } = await decide({ input: { id, decision, expectedVersion: version, ...(comment.trim() !== '' && { comment: comment.trim() }) } })
    onDone()
    if (!data?.decideAccessRequest) return
    toast({ sentence: say(decision === 'APPROVE' ? 'apps.approved' : 'apps.declined', { name }) })
    onClose()
  }
  return (
    <FormDialog
      title={say('action.of', { action: verb, name })}
      verb={verb}
      isBusy={fetching}
      problem={problem}
      fields={['comment']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <p>{say(decision === 'APPROVE' ? 'apps.approve-means' : 'apps.decline-means')}</p>
      <Field
        label={say('apps.comment')}
        value={comment}
        onChange={setComment}
        rows={3}
        hint={say('apps.comment-hint')}
        wrong={problem?.field === 'comment' ? problem.sentence : null}
      />
    </FormDialog>
  )
}
