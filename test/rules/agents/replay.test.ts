import { describe, expect, it } from 'vitest'
import { compareRun, type Recorded } from '../../../subgraphs/agents/engines/replay/replay.ts'
import type { Json, PlanStep } from '../../../subgraphs/agents/stores/workflow.ts'
import { gate, planStep } from './plans.ts'

const record = (step: PlanStep, more: Partial<Recorded> = {}): Recorded => ({
  ...{ key: step.key, kind: step.kind, status: 'SUCCEEDED', input: null, output: null, failureCode: null, failureMessage: null, isEdited: false },
  ...more,
})
const tool = (key: string, more: Partial<PlanStep> = {}) => planStep('TOOL', key, { connectorId: 'c', tool: 't', ...more })
const branch = (right: Json, more: Partial<PlanStep> = {}) =>
  planStep('BRANCH', 'branch', { condition: { left: '{{input.size}}', operator: 'GREATER', right }, otherwise: 'end', ...more })

/** Compares a run of these records with a plan, shown as `key same status`. */
const compared = (plan: readonly PlanStep[], recorded: readonly Recorded[], input: Json = { size: 7 }) => compareRun({ input }, recorded, plan, recorded)
const brief = (...given: Parameters<typeof compared>) => compared(...given).map(({ key, same, after }) => `${key} ${same} ${after?.status ?? 'gone'}`)

describe('a replay', () => {
  const note = tool('note', { arguments: { text: 'Size {{input.size}}' } })
  const say = planStep('REPORT', 'say', { text: 'Wrote {{steps.note.output.id}}' })
  const recorded = [
    record(note, { input: { text: 'Size 7' }, output: { id: 'n1' } }),
    record(branch(5), { output: true }),
    record(say, { input: { text: 'Wrote n1' }, output: { id: 'r1', text: 'Wrote n1' } }),
  ]

  it('is the same step by step under the plan that the run had', () => {
    expect(brief([note, branch(5), say], recorded)).toEqual(['note true SUCCEEDED', 'branch true SUCCEEDED', 'say true SUCCEEDED'])
  })

  it('shows in the new plan’s order what differs, what is new, and last what is gone', () => {
    const fresh = tool('fresh')
    expect(brief([note, branch(9), fresh], recorded)).toEqual(['note true SUCCEEDED', 'branch false SUCCEEDED', 'fresh false SKIPPED', 'say false gone'])
    expect(compared([note, branch(9), fresh], recorded)[2]).toMatchObject({
      key: 'fresh',
      before: null,
      after: { status: 'SKIPPED', input: null, output: null },
    })
  })

  it('works texts out anew, and answers tools with what was recorded', () => {
    const [first, , last] = compared(
      [tool('note', { arguments: { text: 'Big {{input.size}}' } }), branch(5), planStep('REPORT', 'say', { text: 'Now {{steps.note.output.id}}' })],
      recorded,
    )
    expect(first).toMatchObject({ same: false, before: { input: { text: 'Size 7' } }, after: { input: { text: 'Big 7' }, output: { id: 'n1' } } })
    expect(last).toMatchObject({ same: false, after: { output: { id: 'r1', text: 'Now n1' } } })
  })

  it('goes past calls that were never made, and fails where a template leads to nothing', () => {
    expect(brief([tool('fresh', { arguments: { of: '{{input.size}}' } }), say], recorded)).toEqual([
      ...['fresh false SKIPPED', 'say false FAILED', 'note false gone', 'branch false gone'],
    ])
  })

  it('answers a kind with records of that kind alone', () => {
    expect(brief([planStep('DELAY', 'note', { seconds: 5 })], [recorded[0]!])).toEqual(['note false SKIPPED'])
  })

  it('goes where a refusal led, and fails where a tool failed', () => {
    const gated = tool('gated', { gate: gate(), otherwise: 'else_way' })
    const other = planStep('REPORT', 'else_way', { text: 'Else.' })
    const refused = record(gated, { status: 'FAILED', input: {}, failureCode: 'APPROVAL_REJECTED', failureMessage: 'No.' })
    expect(brief([gated, tool('next'), other], [refused])).toEqual(['gated true FAILED', 'next false SKIPPED', 'else_way false SUCCEEDED'])
    const failed = record(gated, { status: 'FAILED', input: {}, failureCode: 'TOOL_ERROR', failureMessage: 'No.' })
    expect(brief([gated, other], [failed])).toEqual(['gated true FAILED', 'else_way false PENDING'])
  })

  it('keeps arguments that a person edited', () => {
    const edited = record(note, { input: { text: 'By hand' }, output: { id: 'n1' }, isEdited: true })
    expect(brief([note], [edited])).toEqual(['note true SUCCEEDED'])
  })

  it('stops where the run was cancelled', () => {
    expect(brief([tool('first'), tool('second')], [record(tool('first'), { status: 'CANCELLED' })])).toEqual(['first true CANCELLED', 'second false CANCELLED'])
  })
})
