import { GitCompare } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Diff } from '../../design/history/diff.tsx'
import { Button } from '../../design/parts/button.tsx'
import { Select } from '../../design/parts/select.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { say, sayIfKnown } from '../../shell/words.ts'
import { ReplayRunDocument, type ReplayRunMutation } from './runs.generated.ts'
import { shown } from './state.tsx'

type Compared = NonNullable<NonNullable<ReplayRunMutation['replayRun']>['steps']>[number]

/** Shows where another plan would have differed from what a run recorded; nothing is executed. @param latest the number of the plan in use */
export function Comparison({ runId, latest }: { readonly runId: string; readonly latest: number }) {
  const [number, setNumber] = useState(String(latest))
  const [{ data, error, fetching }, replay] = useMutation(ReplayRunDocument)
  const problem = problemOf(error)
  const found = data?.replayRun
  const different = (found?.steps ?? []).filter(({ same }) => !same)
  const plans = Array.from({ length: latest }, (_, at) => String(latest - at))
  return (
    <Region title={say('compare.title')} state="ready" data-compare={runId}>
      <p className="quiet">{say('compare.sentence')}</p>
      <div className="actions">
        <Select
          label={say('compare.plan')}
          isLabelHidden
          choices={plans.map(id => ({ id, name: say('workflows.plan-number', { number: Number(id) }) }))}
          value={number}
          onChange={setNumber}
        />
        <Button icon={GitCompare} isDisabled={fetching} onPress={() => void replay({ input: { runId, planNumber: Number(number) } })}>
          {say('compare.begin')}
        </Button>
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {found && (
        <div role="status">
          {different.length === 0
            ? say('compare.same', { number: found.planNumber })
            : say('compare.different', { number: found.planNumber, count: different.length })}
        </div>
      )}
      {different.length > 0 && (
        <ul className="stack">
          {different.map(step => (
            <Difference key={step.key} step={step} />
          ))}
        </ul>
      )}
    </Region>
  )
}

function Difference({ step: { key, before, after } }: { readonly step: Compared }) {
  return (
    <li data-step={key}>
      <h3>{key}</h3>
      {!before && <p className="small quiet">{say('compare.new-step')}</p>}
      {!after && <p className="small quiet">{say('compare.no-step')}</p>}
      <Diff before={stepText(before)} after={stepText(after)} />
    </li>
  )
}

/** What became of a step as lines that are compared. */
function stepText(step: unknown): string {
  if (!step) return ''
  const { status, input, output } = step as Readonly<Record<'status' | 'input' | 'output', unknown>>
  const lines: readonly (readonly [string, unknown])[] = [
    [say('workflows.status'), typeof status === 'string' ? sayIfKnown(`step.${status}`, status) : status],
    [say('runs.input'), input],
    [say('runs.output'), output],
  ]
  return lines.flatMap(([name, value]) => (value === null || value === undefined ? [] : [`${name}: ${shown(value)}`])).join('\n')
}
