import { FlaskConical, Play } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Diff } from '../../design/history/diff.tsx'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Field } from '../../design/parts/field.tsx'
import { goTo, Link } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { Confirm, FormDialog } from '../../shell/parts/ask.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { readJson } from '../runs/json.ts'
import { RunState } from '../runs/state.tsx'
import { Hook } from './hook.tsx'
import { WorkflowForm } from './new.tsx'
import { planText } from './plan/draft.ts'
import { PlanEditor } from './plan/editor.tsx'
import { WorkflowState } from './state.tsx'
import { triggerText } from './trigger.tsx'
import { TryDraft } from './try.tsx'
import { ArchiveWorkflowDocument, StartRunDocument, WorkflowDetailDocument, type WorkflowDetailsFragment } from './workflows.generated.ts'

/** One workflow: its draft as it is written, the plan that runs, and the latest runs. */
export function WorkflowPage({ id }: { readonly id: string }) {
  const { may } = useRights()
  const { data, state, problem, retry } = useRead(WorkflowDetailDocument, { id })
  const [asks, setAsks] = useState<'change' | 'archive' | 'start' | 'try' | null>(null)
  const workflow = data?.workflow
  const runs = (workflow?.runs?.nodes ?? []).filter(each => each !== null)
  const onClose = () => setAsks(null)
  const isWritable = may('agents:workflows.write') && workflow?.status !== 'ARCHIVED'
  const isStartable = workflow?.status === 'PUBLISHED' && (may('agents:runs.invoke') || may('agents:workflows.write'))
  const actions = workflow && (
    <div className="actions">
      {isStartable && (
        <Button kind="primary" icon={Play} onPress={() => setAsks('start')}>
          {say('runs.start')}
        </Button>
      )}
      {isWritable && (
        <>
          {(workflow.draft?.steps ?? []).length > 0 && (
            <Button icon={FlaskConical} onPress={() => setAsks('try')}>
              {say('trial.try')}
            </Button>
          )}
          <Button onPress={() => setAsks('change')}>{say('workflows.change')}</Button>
          <Button onPress={() => setAsks('archive')}>{say('workflows.archive')}</Button>
        </>
      )}
    </div>
  )
  return (
    <Page title={workflow?.name ?? say('workflows.one')} actions={actions}>
      <p>
        <Link to="/workflows">{say('workflows.all')}</Link>
      </p>
      <Region title={say('workflows.about')} state={data && !workflow ? 'error' : state} problem={problem} retry={retry} lines={3}>
        {workflow && (
          <>
            <div>
              <WorkflowState status={workflow.status} />
            </div>
            {workflow.description && <p dir="auto">{workflow.description}</p>}
            <Facts
              of={[
                [say('workflows.begins'), triggerText(workflow.trigger)],
                [say('workflows.running-plan'), workflow.published && say('workflows.plan-number', { number: workflow.published.number })],
                [say('workflows.changed-at'), moment(workflow.updatedAt)],
              ]}
            />
          </>
        )}
      </Region>
      {workflow && isWritable && workflow.trigger?.kind === 'WEBHOOK' && <Hook workflow={workflow} />}
      {workflow && <PlanEditor workflow={workflow} mayWrite={isWritable} reload={retry} />}
      {workflow && <Compared workflow={workflow} />}
      {workflow && (
        <Region title={say('workflows.latest-runs')} isFlush={runs.length > 0} state="ready">
          {runs.length === 0 && <p className="quiet">{say('runs.none')}</p>}
          {runs.length > 0 && (
            <ul className="list">
              {runs.map(({ id: key, status, createdAt }) => (
                <li key={key} data-run={key}>
                  <Link className="grow" to={`/runs/${key}`}>
                    {moment(createdAt)}
                  </Link>
                  <span className="quiet small">{lately(createdAt)}</span>
                  <RunState status={status} />
                </li>
              ))}
            </ul>
          )}
        </Region>
      )}
      {workflow && asks === 'change' && <WorkflowForm workflow={workflow} onClose={onClose} />}
      {workflow && asks === 'archive' && <ArchiveWorkflow workflow={workflow} onClose={onClose} />}
      {workflow && asks === 'try' && <TryDraft workflow={workflow} onClose={onClose} />}
      {workflow && asks === 'start' && <StartRun workflow={workflow} onClose={onClose} />}
    </Page>
  )
}

/** What publishing would change, where a plan is published and the draft differs. */
function Compared({ workflow: { draft, published } }: { readonly workflow: WorkflowDetailsFragment }) {
  if (!draft || !published) return null
  const [before, after] = [planText(published.steps ?? []), planText(draft.steps ?? [])]
  return (
    <Region title={say('workflows.compared', { number: published.number })} state="ready">
      {before === after ? <p className="quiet">{say('workflows.same')}</p> : <Diff before={before} after={after} />}
    </Region>
  )
}

function ArchiveWorkflow({ workflow: { id, name, version }, onClose }: { readonly workflow: WorkflowDetailsFragment; onClose(): void }) {
  const [{ error, fetching }, archive] = useMutation(ArchiveWorkflowDocument)
  async function act() {
    const { data } = await archive({ input: { id, expectedVersion: version } })
    if (data?.archiveWorkflow) onClose()
  }
  return (
    <Confirm
      title={say('workflows.archive')}
      sentence={say('workflows.archive-sentence', { name })}
      verb={say('workflows.archive')}
      isBusy={fetching}
      problem={problemOf(error)}
      onConfirm={() => void act()}
      onClose={onClose}
    />
  )
}

/** Begins a run of the published plan, with what its templates name as input. */
function StartRun({ workflow: { id, name }, onClose }: { readonly workflow: WorkflowDetailsFragment; onClose(): void }) {
  const idempotencyKey = useOnce()
  const [{ error, fetching }, start] = useMutation(StartRunDocument)
  const [text, setText] = useState('')
  const [isWrong, setWrong] = useState(false)
  const problem = problemOf(error)
  async function act() {
    const read = readJson(text)
    setWrong(!read)
    if (!read) return
    const { data } = await start({ input: { workflowId: id, ...('value' in read && { input: read.value }), idempotencyKey } })
    if (data?.startRun) goTo(`/runs/${data.startRun.id}`)
  }
  return (
    <FormDialog
      title={say('runs.start')}
      verb={say('runs.start')}
      isBusy={fetching}
      problem={problem}
      fields={['input']}
      onDo={() => void act()}
      onClose={onClose}
    >
      <p>{say('runs.start-sentence', { name })}</p>
      <Field
        label={say('runs.input')}
        rows={5}
        value={text}
        onChange={setText}
        hint={say('runs.input-hint')}
        wrong={isWrong ? say('workflows.no-json') : problem?.field === 'input' ? problem.sentence : null}
      />
    </FormDialog>
  )
}
