import { CircleHelp } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Note } from '../../design/parts/status.tsx'
import { Link } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { moment } from '../../shell/time.ts'
import { say, sayIfKnown } from '../../shell/words.ts'
import { readJson } from './json.ts'
import { ResolveStepDocument, type RunDetailQuery, type RunStepFragment } from './runs.generated.ts'
import { actorName, lasted, RunState, StepState, shown } from './state.tsx'
import { Value } from './value.tsx'

type Planned = NonNullable<NonNullable<NonNullable<RunDetailQuery['run']>['plan']>['steps']>[number]

/** One step of a run, explained. @param planned the step of the plan, for its title and what it compares */
export function RunStep({ step, planned, reload }: { readonly step: RunStepFragment; readonly planned: Planned | undefined; reload(): void }) {
  const { approval, attempt, childRun, childRuns, failure, finishedAt, input, key, kind, output, policy, startedAt, status } = step
  const condition = planned?.condition
  const told = [
    sayIfKnown(`kind.${kind}`, kind),
    attempt > 1 && say('runs.attempt', { number: attempt }),
    startedAt && moment(startedAt),
    startedAt && finishedAt && say('runs.took', { time: lasted(startedAt, finishedAt) }),
  ]
  return (
    <li data-step={key} className={status === 'FAILED' ? 'bad' : undefined}>
      <div className="grow">
        <p>
          <strong>{planned?.title ?? key}</strong> <StepState status={status} />
        </p>
        <p className="quiet small">{told.filter(Boolean).join(' · ')}</p>
        {condition && (
          <p className="small">
            <code>{`${shown(condition.left)} ${condition.operator} ${condition.operator === 'EXISTS' ? '' : shown(condition.right)}`.trim()}</code>
          </p>
        )}
        {failure && <p className="small wrong">{failure.message}</p>}
        {approval && (
          <p className="small">
            <Link to={`/approvals/${approval.id}`}>{approval.title}</Link>
          </p>
        )}
        {(approval?.decisions ?? []).map(({ actor, at, comment, decision, user }) => (
          <p key={at} className="small">
            {say('approvals.decided-by', { verdict: say(`verdict.${decision}`), name: actorName(actor, user), when: moment(at) })}
            {comment && ` “${comment}”`}
          </p>
        ))}
        {policy && (
          <p className="small">
            {[say(`policy.${policy.decision}`, { name: policy.counterparty, when: moment(policy.decidedAt ?? policy.expiresAt) }), policy.reason]
              .filter(Boolean)
              .join(' ')}
          </p>
        )}
        {childRun && (
          <p className="small">
            <Link to={`/runs/${childRun.id}`}>{say('runs.child')}</Link> <RunState status={childRun.status} />
          </p>
        )}
        {childRuns && childRuns.totalCount > 0 && <Children of={childRuns} />}
        <Value title={say('runs.input')} value={input} />
        <Value title={say('runs.output')} value={output} />
        {status === 'UNKNOWN' && <Unclear stepId={step.id} reload={reload} />}
      </div>
    </li>
  )
}

/** The runs of a list step, by their items. */
function Children({ of: { nodes, totalCount } }: { readonly of: NonNullable<RunStepFragment['childRuns']> }) {
  const known = (nodes ?? []).filter(each => each !== null)
  return (
    <details>
      <summary>{say('runs.children', { count: totalCount })}</summary>
      <ul className="list">
        {known.map(({ id, status, itemIndex }) => (
          <li key={id}>
            <Link className="grow" to={`/runs/${id}`}>
              {say('runs.item', { number: (itemIndex ?? 0) + 1 })}
            </Link>
            <RunState status={status} />
          </li>
        ))}
      </ul>
    </details>
  )
}

/** Asks a person what became of a step whose outcome nobody knows. */
function Unclear({ stepId, reload }: { readonly stepId: string; reload(): void }) {
  const mayResolve = useRights().may('agents:runs.invoke')
  const [happened, setHappened] = useState<boolean | null>(null)
  const [text, setText] = useState('')
  const [isWrong, setWrong] = useState(false)
  const [{ error, fetching }, resolve] = useMutation(ResolveStepDocument)
  const problem = problemOf(error)
  async function act() {
    const read = readJson(text)
    setWrong(!read)
    if (!read) return
    const { data } = await resolve({ input: { stepId, happened: happened === true, ...(happened && 'value' in read && { output: read.value }) } })
    if (!data?.resolveStep) return
    setHappened(null)
    reload()
  }
  return (
    <>
      <Note meaning="warning" icon={CircleHelp}>
        {say('runs.unclear')}
      </Note>
      {mayResolve && (
        <div className="actions">
          <Button onPress={() => setHappened(true)}>{say('runs.happened')}</Button>
          <Button onPress={() => setHappened(false)}>{say('runs.not-happened')}</Button>
        </div>
      )}
      {happened !== null && (
        <FormDialog
          title={say(happened ? 'runs.happened' : 'runs.not-happened')}
          verb={say(happened ? 'runs.happened' : 'runs.not-happened')}
          isBusy={fetching}
          problem={problem}
          fields={['output']}
          onDo={() => void act()}
          onClose={() => setHappened(null)}
        >
          <p>{say(happened ? 'runs.happened-sentence' : 'runs.not-happened-sentence')}</p>
          {happened && (
            <Field
              label={say('runs.output')}
              rows={4}
              value={text}
              onChange={setText}
              wrong={isWrong ? say('workflows.no-json') : problem?.field === 'output' ? problem.sentence : null}
            />
          )}
        </FormDialog>
      )}
    </>
  )
}
