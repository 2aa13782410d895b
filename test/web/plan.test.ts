import { describe, expect, it } from 'vitest'
import { argumentsOf, fieldsOf } from '../../web/agents/connectors/operate/schema.ts'
import { draftsOf, inputOf, newStep, planText, wrongFields } from '../../web/agents/workflows/plan/draft.ts'

type Step = Parameters<typeof planText>[0][number]

const nothing = {
  ...{ title: null, next: null, otherwise: null, arguments: null, gate: null, seconds: null, condition: null, workflowId: null, text: null },
  ...{ agentId: null, prompt: null, connectorId: null, tool: null, counterparty: null, purpose: null, policyTimeoutSeconds: null },
}
const step = (more: object): Step => ({ ...nothing, timeoutSeconds: 60, retries: 2, ...more }) as Step

describe('the draft of a plan', () => {
  it('gives back what was read, for every kind of step', () => {
    const gate = {
      title: 'Go on?',
      description: null,
      risk: 'HIGH',
      allowed: ['APPROVE'],
      expiresInSeconds: 60,
      onExpiry: 'REJECT',
      escalateAfterSeconds: null,
      ...{ approvers: ['ada', 'ben'], required: 2 },
    }
    const condition = { left: '{{input.size}}', operator: 'GREATER', right: 10 }
    const given = [
      step({ key: 'ask', kind: 'APPROVAL', gate, arguments: { price: 12 }, otherwise: 'end' }),
      step({ key: 'big', kind: 'BRANCH', condition }),
      step({ key: 'wait', kind: 'DELAY', seconds: 30 }),
      step({ key: 'call', kind: 'TOOL', connectorId: 'c', tool: 'create_note', gate, arguments: { text: '{{steps.ask.output}}' } }),
      step({ key: 'think', kind: 'MODEL', agentId: 'a', prompt: 'Why?' }),
      step({ key: 'write', kind: 'REPORT', text: 'Because.', title: 'Why' }),
      step({
        key: 'each',
        kind: 'MAP',
        list: '{{input.list}}',
        itemName: 'row',
        concurrency: 3,
        onItemFailure: 'SKIP',
        workflowId: 'w',
        arguments: { a: '{{row}}' },
      }),
    ]
    const inputs = draftsOf(given)!.map(inputOf)
    for (const [at, input] of inputs.entries()) expect(given[at]).toMatchObject(input)
    expect(inputs.map(({ key }) => key)).toEqual(['ask', 'big', 'wait', 'call', 'think', 'write', 'each'])
    expect(inputs[0]!.gate).toEqual(gate)
  })

  it('is none for a plan with a step that the form does not know', () => {
    expect(draftsOf([step({ key: 'new', kind: 'TELEPATHY' })])).toBeNull()
  })

  it('keeps keys apart, and finds texts that are no JSON and no number', () => {
    const first = newStep('DELAY', [])
    const second = newStep('DELAY', [first])
    expect([first.key, second.key]).toEqual(['delay', 'delay_2'])
    expect([...wrongFields(first)]).toEqual(['seconds'])
    expect([...wrongFields({ ...first, seconds: 'soon' })]).toEqual(['seconds'])
    expect([...wrongFields({ ...newStep('APPROVAL', []), arguments: '{ "a": ' })]).toEqual(['arguments'])
    expect(inputOf({ ...newStep('BRANCH', []), left: '{{input.a}}', right: '10' }).condition).toEqual({ left: '{{input.a}}', operator: 'EQUALS', right: 10 })
  })

  it('reads as a text that differs where a step does', () => {
    const before = [step({ key: 'write', kind: 'REPORT', text: 'One.' })]
    expect(planText(before)).toBe(planText([step({ key: 'write', kind: 'REPORT', text: 'One.' })]))
    expect(planText(before)).not.toBe(planText([step({ key: 'write', kind: 'REPORT', text: 'Two.' })]))
  })
})

describe('the form of a tool', () => {
  const fields = fieldsOf({
    type: 'object',
    properties: {
      to: { type: 'string', description: 'Whom' },
      copies: { type: 'integer' },
      urgent: { type: 'boolean' },
      colour: { type: 'string', enum: ['red', 'blue'] },
      parts: { type: 'array' },
    },
    required: ['to', 'urgent'],
  })

  it('has a field for each property of the schema', () => {
    expect(fields.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
      ['to', 'text', true],
      ['copies', 'number', false],
      ['urgent', 'boolean', true],
      ['colour', 'choice', false],
      ['parts', 'json', false],
    ])
    expect(fieldsOf(null)).toEqual([])
  })

  it('makes arguments of what was typed, and names fields that hold something else', () => {
    expect(argumentsOf(fields, { to: 'Ada', copies: '2', colour: 'red', parts: '[1]' })).toEqual({
      arguments: { to: 'Ada', copies: 2, urgent: false, colour: 'red', parts: [1] },
      wrong: new Set(),
    })
    expect([...argumentsOf(fields, { copies: 'two', parts: '[' }).wrong]).toEqual(['to', 'copies', 'parts'])
  })
})
