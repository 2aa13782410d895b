import { ArrowDown, ArrowUp, ChevronDown, CircleAlert, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Icon } from '../../../design/parts/icon.tsx'
import { Action, Menu } from '../../../design/parts/menu.tsx'
import { Note } from '../../../design/parts/status.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { useDraft } from '../../../shell/data/draft.ts'
import { problemOf } from '../../../shell/data/problems.ts'
import { Confirm } from '../../../shell/parts/ask.tsx'
import { Failure, Region } from '../../../shell/region.tsx'
import { say, sayIfKnown } from '../../../shell/words.ts'
import { PublishWorkflowDocument, UpdateWorkflowDocument, type WorkflowDetailsFragment } from '../workflows.generated.ts'
import { draftsOf, inputOf, kinds, newStep, planText, type StepDraft, wrongFields } from './draft.ts'
import { StepForm } from './step.tsx'

/** What somebody has changed and not saved: the version that it began with, and the steps. */
interface Edited {
  readonly version: number | null
  readonly steps: readonly StepDraft[]
}

const untouched: Edited = { version: null, steps: [] }

/** The draft of a plan as an ordered list; a step is edited beside it. What is not saved outlives a reload, and never replaces somebody else's draft unasked. */
export function PlanEditor({ workflow, mayWrite, reload }: { readonly workflow: WorkflowDetailsFragment; readonly mayWrite: boolean; reload(): void }) {
  const [edited, setEdited, forget] = useDraft<Edited>('plan', untouched)
  const [chosen, setChosen] = useState<string | null>(null)
  const [isTried, setTried] = useState(false)
  const [saved, save] = useMutation(UpdateWorkflowDocument)
  const [publishes, setPublishes] = useState(false)
  const saidSteps = workflow.draft?.steps ?? []
  const [said] = useSaid(workflow)
  const isEdited = edited.version !== null
  const steps = isEdited ? edited.steps : (said ?? [])
  const at = steps.findIndex(({ id }) => id === chosen)
  const step = steps[at]
  const isStale = isEdited && edited.version !== workflow.version
  const problem = problemOf(saved.error)
  const isConflict = problem?.reason === 'STALE_VERSION' || isStale
  const change = (next: readonly StepDraft[]) => {
    setEdited({ version: isEdited ? edited.version : workflow.version, steps: next })
  }
  const drop = () => {
    setEdited(untouched)
    forget()
    setTried(false)
    setChosen(null)
  }
  async function send(expectedVersion: number) {
    setTried(true)
    const wrongAt = steps.findIndex(each => wrongFields(each).size > 0)
    if (wrongAt !== -1) return setChosen(steps[wrongAt]!.id)
    const { data, error } = await save({ input: { id: workflow.id, steps: steps.map(inputOf), expectedVersion } })
    const refused = /^steps\[(\d+)\]/.exec(problemOf(error)?.field ?? '')
    if (refused) setChosen(steps[Number(refused[1])]?.id ?? null)
    if (problemOf(error)?.reason === 'STALE_VERSION') reload()
    if (!data?.updateWorkflow) return
    drop()
    toast({ sentence: say('workflows.draft-saved') })
  }
  /** What is wrong at a field of the chosen step: found here, or said by the graph of that step. */
  const wrong = (field: string): string | null => {
    if (!step) return null
    if (isTried && wrongFields(step).has(field)) return say(field === 'arguments' ? 'workflows.no-json' : 'workflows.no-number')
    return problem?.field === `steps[${at}].${field}` ? problem.sentence : null
  }
  const add = (kind: (typeof kinds)[number]) => {
    const added = newStep(kind, steps)
    change([...steps, added])
    setChosen(added.id)
  }
  const isPublishable = !isEdited && saidSteps.length > 0 && planText(saidSteps) !== planText(workflow.published?.steps ?? [])
  if (said === null)
    return (
      <Region title={say('workflows.draft')} state="ready">
        <Note meaning="info" icon={CircleAlert}>
          {say('workflows.foreign')}
        </Note>
        <pre className="text small">{planText(saidSteps)}</pre>
      </Region>
    )
  return (
    <div className={step ? 'beside open' : 'beside'}>
      <Region title={say('workflows.draft')} tools={mayWrite && <AddStep onAdd={add} />} state="ready" data-plan={workflow.id}>
        {steps.length === 0 && <p className="quiet">{say('workflows.no-step')}</p>}
        <ol className="list steps">
          {steps.map((each, index) => (
            <Line
              key={each.id}
              step={each}
              at={index}
              count={steps.length}
              isChosen={each.id === chosen}
              isWrong={(isTried && wrongFields(each).size > 0) || (problem?.field?.startsWith(`steps[${index}]`) ?? false)}
              mayWrite={mayWrite}
              onChoose={() => setChosen(each.id === chosen ? null : each.id)}
              onMove={by => change(moved(steps, index, by))}
              onRemove={() => change(steps.filter(({ id }) => id !== each.id))}
            />
          ))}
        </ol>
        {isConflict && isEdited && (
          <>
            <Note meaning="warning" icon={CircleAlert}>
              {say('workflows.stale')}
            </Note>
            <div className="actions">
              <Button onPress={() => void send(workflow.version)}>{say('workflows.keep-mine')}</Button>
              <Button onPress={drop}>{say('workflows.take-theirs')}</Button>
            </div>
          </>
        )}
        {problem && !isConflict && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
        {mayWrite && (
          <div className="actions">
            {isEdited && !isConflict && (
              <>
                <Button kind="primary" isDisabled={saved.fetching} onPress={() => void send(edited.version!)}>
                  {say('workflows.save-draft')}
                </Button>
                <Button kind="quiet" onPress={drop}>
                  {say('workflows.discard')}
                </Button>
              </>
            )}
            {isPublishable && (
              <Button kind="primary" onPress={() => setPublishes(true)}>
                {say('workflows.publish')}
              </Button>
            )}
          </div>
        )}
        {publishes && <Publish workflow={workflow} onClose={() => setPublishes(false)} />}
      </Region>
      {step && (
        <Region className="panel" aria-label={say('workflows.step')} title={<h2 className="clip">{step.title || step.key}</h2>} state="ready">
          <p className="quiet">{say(`kind-means.${step.kind}`)}</p>
          <fieldset disabled={!mayWrite}>
            <legend className="unseen">{say('workflows.step')}</legend>
            <StepForm step={step} later={steps.slice(at + 1)} wrong={wrong} onChange={next => change(steps.map(each => (each.id === next.id ? next : each)))} />
          </fieldset>
          <div className="actions">
            <Button onPress={() => setChosen(null)}>{say('workflows.step-done')}</Button>
          </div>
        </Region>
      )}
    </div>
  )
}

/** The saved draft for the form; its steps keep their ids until another version comes. */
function useSaid({ version, draft }: WorkflowDetailsFragment): readonly [readonly StepDraft[] | null] {
  const [kept, setKept] = useState(() => ({ version, steps: draftsOf(draft?.steps ?? []) }))
  if (kept.version === version) return [kept.steps]
  const next = { version, steps: draftsOf(draft?.steps ?? []) }
  setKept(next)
  return [next.steps]
}

const moved = (steps: readonly StepDraft[], at: number, by: number): readonly StepDraft[] => {
  const next = [...steps]
  next.splice(at + by, 0, ...next.splice(at, 1))
  return next
}

const AddStep = ({ onAdd }: { onAdd(kind: (typeof kinds)[number]): void }) => (
  <Menu
    name={say('workflows.add-step')}
    button={
      <Button icon={Plus}>
        {say('workflows.add-step')}
        <Icon of={ChevronDown} />
      </Button>
    }
  >
    {kinds.map(kind => (
      <Action key={kind} id={kind} name={say(`kind.${kind}`)} onAction={() => onAdd(kind)}>
        {say(`kind.${kind}`)}
      </Action>
    ))}
  </Menu>
)

/** One step of the list: opened by its name, moved by two buttons. */
function Line({
  step,
  at,
  count,
  isChosen,
  isWrong,
  mayWrite,
  onChoose,
  onMove,
  onRemove,
}: {
  readonly step: StepDraft
  readonly at: number
  readonly count: number
  readonly isChosen: boolean
  readonly isWrong: boolean
  readonly mayWrite: boolean
  onChoose(): void
  onMove(by: number): void
  onRemove(): void
}) {
  const name = step.title || step.key
  const named = (key: string) => say('action.of', { action: say(key), name })
  return (
    <li data-step={step.key} aria-current={isChosen ? 'step' : undefined}>
      <span className="quiet figures">{at + 1}</span>
      <div className="grow">
        <Button kind="link" onPress={onChoose} aria-expanded={isChosen}>
          {name}
        </Button>
        <p className="quiet small">
          {[sayIfKnown(`kind.${step.kind}`, step.kind), step.next && `→ ${step.next}`].filter(Boolean).join(' · ')}
          {isWrong && <span className="wrong"> {say('workflows.step-wrong')}</span>}
        </p>
      </div>
      {mayWrite && (
        <>
          <Button kind="quiet" icon={ArrowUp} name={named('workflows.up')} isDisabled={at === 0} onPress={() => onMove(-1)} />
          <Button kind="quiet" icon={ArrowDown} name={named('workflows.down')} isDisabled={at === count - 1} onPress={() => onMove(1)} />
          <Button kind="quiet" icon={Trash2} name={named('workflows.remove')} onPress={onRemove} />
        </>
      )}
    </li>
  )
}

function Publish({ workflow: { id, name, version, draft }, onClose }: { readonly workflow: WorkflowDetailsFragment; onClose(): void }) {
  const [{ error, fetching }, publish] = useMutation(PublishWorkflowDocument)
  async function act() {
    const { data } = await publish({ input: { id, expectedVersion: version } })
    if (!data?.publishWorkflow) return
    toast({ sentence: say('workflows.published', { name }) })
    onClose()
  }
  return (
    <Confirm
      title={say('workflows.publish')}
      sentence={say('workflows.publish-sentence', { name, number: draft?.number ?? 1 })}
      verb={say('workflows.publish')}
      isDanger={false}
      isBusy={fetching}
      problem={problemOf(error)}
      onConfirm={() => void act()}
      onClose={onClose}
    />
  )
}
