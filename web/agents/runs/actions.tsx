import { Ban, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Confirm, FormDialog } from '../../shell/parts/ask.tsx'
import { say } from '../../shell/words.ts'
import { CancelRunDocument, RetryRunDocument, type RunDetailsFragment } from './runs.generated.ts'
import { isOver } from './state.tsx'

interface ActionProps {
  readonly run: RunDetailsFragment
  /** Reads the run again, because a live event may be newer than the action's answer that replaced it. */
  reload(): void
}

/** What may be done with a run: stop it while it goes on, or have it go on from a step after it failed. */
export function RunActions({ run, reload }: ActionProps) {
  const { may } = useRights()
  const [asks, setAsks] = useState<'cancel' | 'retry' | null>(null)
  const onClose = () => setAsks(null)
  if (!may('agents:runs.invoke') && !may('agents:workflows.write')) return null
  return (
    <div className="actions">
      {run.status === 'FAILED' && (
        <Button kind="primary" icon={RotateCw} onPress={() => setAsks('retry')}>
          {say('runs.retry')}
        </Button>
      )}
      {!isOver(run.status) && (
        <Button icon={Ban} onPress={() => setAsks('cancel')}>
          {say('runs.cancel')}
        </Button>
      )}
      {asks === 'cancel' && <Cancel run={run} reload={reload} onClose={onClose} />}
      {asks === 'retry' && <Retry run={run} reload={reload} onClose={onClose} />}
    </div>
  )
}

function Cancel({ run: { id, version }, reload, onClose }: ActionProps & { onClose(): void }) {
  const [{ error, fetching }, cancel] = useMutation(CancelRunDocument)
  async function act() {
    const { data } = await cancel({ input: { id, expectedVersion: version } })
    if (!data?.cancelRun) return
    reload()
    onClose()
  }
  return (
    <Confirm
      title={say('runs.cancel')}
      sentence={say('runs.cancel-sentence')}
      verb={say('runs.cancel')}
      isBusy={fetching}
      problem={problemOf(error)}
      onConfirm={() => void act()}
      onClose={onClose}
    />
  )
}

/** Goes on from the step that failed, or from an earlier one that has begun. */
function Retry({ run: { id, failure, steps, version }, reload, onClose }: ActionProps & { onClose(): void }) {
  const [{ error, fetching }, retry] = useMutation(RetryRunDocument)
  const begun = (steps ?? []).filter(({ startedAt }) => startedAt)
  const [from, setFrom] = useState(failure?.stepKey ?? '')
  const problem = problemOf(error)
  async function act() {
    const { data } = await retry({ input: { id, expectedVersion: version, ...(from && from !== failure?.stepKey && { fromStep: from }) } })
    if (!data?.retryRun) return
    toast({ sentence: say('runs.retried') })
    reload()
    onClose()
  }
  return (
    <FormDialog
      title={say('runs.retry')}
      verb={say('runs.retry')}
      isBusy={fetching}
      problem={problem?.reason === 'OUTCOME_UNKNOWN' ? { ...problem, sentence: say('runs.unclear-first') } : problem}
      onDo={() => void act()}
      onClose={onClose}
    >
      <p>{say('runs.retry-sentence')}</p>
      {begun.length > 0 && <Select label={say('runs.from-step')} choices={begun.map(({ key }) => ({ id: key, name: key }))} value={from} onChange={setFrom} />}
    </FormDialog>
  )
}
