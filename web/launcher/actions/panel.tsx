import { ArrowUpRight, Check, X } from 'lucide-react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Status } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { ActionDetailDocument, CompleteActionDocument } from './actions.generated.ts'

/** One thing that waits, or waited, beside the list. @param open leads to where it can be dealt with */
export function ActionPanel({ id, back, open }: { readonly id: string; readonly back: string; open(url: string, service: string): void }) {
  const { data, state, problem, retry } = useRead(ActionDetailDocument, { id })
  const [{ error, fetching }, complete] = useMutation(CompleteActionDocument)
  const refused = problemOf(error)
  const item = data?.actionItem
  const isOver = item?.status === 'DONE' || item?.status === 'RESOLVED'
  async function finish() {
    const answer = await complete({ input: { id, expectedVersion: item!.version } })
    if (!answer.data?.completeActionItem) return
    toast({ sentence: say('actions.done', { title: item!.title }) })
    goTo(back)
  }
  return (
    <Region
      className="panel"
      aria-label={say('actions.detail')}
      title={<h2>{item?.title ?? say('actions.detail')}</h2>}
      tools={<Button kind="quiet" icon={X} name={say('action.close')} onPress={() => goTo(back)} />}
      state={data && !item ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {item && (
        <>
          <p className="quiet">
            {say('actions.since', { when: moment(item.createdAt) })}{' '}
            {isOver && (
              <Status meaning="positive" icon={Check}>
                {say('actions.over')}
              </Status>
            )}
          </p>
          {refused && <Failure sentence={refused.sentence} requestId={refused.requestId} />}
          <div className="actions">
            <Button kind="primary" icon={ArrowUpRight} onPress={() => open(item.url, item.subject.service)}>
              {say('actions.open')}
            </Button>
            {!isOver && (
              <Button icon={Check} isDisabled={fetching} onPress={() => void finish()}>
                {say('actions.complete')}
              </Button>
            )}
          </div>
        </>
      )}
    </Region>
  )
}
