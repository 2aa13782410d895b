import { CircleAlert, FlaskConical, UserRound } from 'lucide-react'
import { useSubscription } from 'urql'
import { Facts } from '../../design/parts/facts.tsx'
import { Note } from '../../design/parts/status.tsx'
import { Link } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { dollars } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say, sayIfKnown } from '../../shell/words.ts'
import { RunActions } from './actions.tsx'
import { Comparison } from './compare.tsx'
import { RunChangesDocument, RunDetailDocument } from './runs.generated.ts'
import { isOver, lasted, RunState } from './state.tsx'
import { RunStep } from './step.tsx'
import { Value } from './value.tsx'

/** One run, step by step: what each was given, what it gave, who decided and how long it took. It changes by itself. */
export function RunPage({ id }: { readonly id: string }) {
  const { data, state, problem, retry } = useRead(RunDetailDocument, { id })
  useSubscription({ query: RunChangesDocument, variables: { id } })
  const mayWrite = useRights().may('agents:workflows.write')
  const run = data?.run
  const latest = run?.workflow?.published?.number
  const planned = new Map((run?.plan?.steps ?? []).map(each => [each.key, each]))
  const waiting = run?.steps?.find(({ approval }) => approval?.status === 'PENDING')?.approval
  return (
    <Page
      title={run ? say('runs.of', { name: run.workflow?.name ?? say('runs.single') }) : say('runs.one')}
      actions={run && <RunActions run={run} reload={retry} />}
    >
      <p>
        <Link to="/runs">{say('runs.all')}</Link>
      </p>
      <Region title={say('runs.about')} state={data && !run ? 'error' : state} problem={problem} retry={retry} lines={4}>
        {run && (
          <>
            <div>
              <RunState status={run.status} />
            </div>
            {waiting && (
              <Note meaning="warning" icon={UserRound}>
                <Link to={`/approvals/${waiting.id}`}>{say('runs.waits-for', { title: waiting.title })}</Link>
              </Note>
            )}
            {run.trigger === 'TEST' && (
              <Note meaning="info" icon={FlaskConical}>
                {say('trial.told')}
              </Note>
            )}
            {run.failure && (
              <Note meaning="danger" icon={CircleAlert}>
                {say('runs.failed-at', { step: planned.get(run.failure.stepKey)?.title ?? run.failure.stepKey, message: run.failure.message })}
              </Note>
            )}
            <Facts
              of={[
                [
                  say('workflows.one'),
                  run.workflow && (
                    <Link key="workflow" to={`/workflows/${run.workflow.id}`}>
                      {run.workflow.name}
                    </Link>
                  ),
                ],
                [say('runs.plan'), run.plan && say('workflows.plan-number', { number: run.plan.number })],
                [say('runs.begun-by'), run.startedBy?.name ?? sayIfKnown(`run-trigger.${run.trigger}`, run.trigger)],
                [
                  say('runs.parent'),
                  run.parent && (
                    <Link key="parent" to={`/runs/${run.parent.id}`}>
                      {say('runs.open-parent')}
                    </Link>
                  ),
                ],
                [say('runs.cost'), Number(run.costMicros) > 0 && dollars(run.costMicros)],
                [
                  say('runs.tokens'),
                  Number(run.tokens?.input ?? 0) > 0 && say('runs.tokens-of', { input: Number(run.tokens?.input), output: Number(run.tokens?.output) }),
                ],
                [say('runs.begun'), moment(run.createdAt)],
                [say('runs.ended'), run.finishedAt && moment(run.finishedAt)],
                [say('runs.lasted'), run.finishedAt && lasted(run.createdAt, run.finishedAt)],
              ]}
            />
            <Value title={say('runs.input')} value={run.input} />
            <Value title={say('runs.output')} value={run.output} />
          </>
        )}
      </Region>
      {run && (
        <Region title={say('runs.steps')} state="ready">
          <ol className="timeline">
            {(run.steps ?? []).map(step => (
              <RunStep key={step.id} step={step} planned={planned.get(step.key)} reload={retry} />
            ))}
          </ol>
        </Region>
      )}
      {latest && isOver(run.status) && mayWrite && <Comparison runId={run.id} latest={latest} />}
    </Page>
  )
}
