import { describe, expect, it } from 'vitest'
import { notPublicCode, OutboundFailure } from '../../../platform/outbound/failure.ts'
import type { DescribedTool } from '../../../subgraphs/agents/engines/connect/mcp/client.ts'
import { BadStatus, callFailure, ToolError, withoutSecrets } from '../../../subgraphs/agents/engines/connect/outcome.ts'
import { joinTools } from '../../../subgraphs/agents/engines/connect/tools.ts'
import { afterFailure } from '../../../subgraphs/agents/engines/run/interpret.ts'

const sent = { isSent: true, isLate: false, seconds: 60 }
const before = { ...sent, isSent: false }

/** What follows from a failure for a tool that may not be called twice, at its first try. */
const once = (error: unknown, progress = sent) => {
  const next = afterFailure(callFailure(error, progress), { mayRepeat: false, retries: 2, tries: 1 })
  return 'is' in next ? next.is : 'again'
}

describe('a failed call of a tool that may not be repeated', () => {
  it('is repeated when it certainly had no effect', () => {
    for (const error of [new BadStatus(503), new BadStatus(429), new OutboundFailure('no connection', false)]) expect(once(error)).toBe('again')
    for (const error of [new BadStatus(500), new OutboundFailure('cut', true), new SyntaxError('garbage')]) expect(once(error, before)).toBe('again')
  })

  it('has an unknown outcome when it may have had an effect', () => {
    for (const error of [new BadStatus(500), new BadStatus(302), new OutboundFailure('cut', true), new SyntaxError('garbage')])
      expect(once(error)).toBe('unknown')
    expect(once(new Error('late'), { ...sent, isLate: true })).toBe('unknown')
  })

  it('has failed for good when the server refused it', () => {
    for (const error of [new ToolError('No.'), new BadStatus(400), new BadStatus(404)]) expect(once(error)).toBe('failed')
    expect(callFailure(new BadStatus(400), sent).code).toBe('TOOL_ERROR')
    expect(once(new OutboundFailure('private', false, { code: notPublicCode }))).toBe('failed')
  })

  it('says how long it waited, and when the server wants it again', () => {
    expect(callFailure(new Error('x'), { ...sent, isLate: true, seconds: 2 })).toMatchObject({ code: 'STEP_TIMEOUT', message: expect.stringContaining('2 s') })
    expect(callFailure(new BadStatus(429, 7_000), sent)).toMatchObject({ retryAfterMs: 7_000 })
  })
})

const tool = (name: string, more: Partial<DescribedTool> = {}): DescribedTool => ({
  ...{ name, title: null, description: null, inputSchema: { type: 'object' }, readOnly: false, idempotent: false, destructive: true, ...more },
})

describe('joinTools', () => {
  it('lets a new tool that only reads be called, and has others asked for', () => {
    expect(joinTools([], [tool('a'), tool('b', { readOnly: true }), tool('c', { destructive: false })]).map(each => [each.permission, each.risk])).toEqual([
      ['ASK', 'HIGH'],
      ['AUTO', 'LOW'],
      ['ASK', 'MEDIUM'],
    ])
  })

  it('keeps permission and risk of a known tool, and forgets one that is gone', () => {
    const known = joinTools([], [tool('a'), tool('gone')]).map(each => ({ ...each, permission: 'DENY', risk: 'LOW' }) as const)
    expect(joinTools(known, [tool('a', { readOnly: true })])).toEqual([{ ...known[0], readOnly: true }])
  })

  it('leaves out what is named twice or cannot be stored, and cuts what is too long', () => {
    const joined = joinTools(
      [],
      [tool('a'), tool('a'), tool(''), tool('b\0'), tool('c', { description: 'x'.repeat(9_000), inputSchema: { x: 'y'.repeat(70_000) } })],
    )
    expect(joined.map(({ name }) => name)).toEqual(['a', 'c'])
    expect(joined[1]).toMatchObject({ description: 'x'.repeat(4_000), inputSchema: { type: 'object' } })
  })

  it('stores no more than a row takes', () => {
    const many = Array.from({ length: 100 }, (_, at) => tool(`t${at}`, { inputSchema: { x: 'y'.repeat(60_000) } }))
    expect(Buffer.byteLength(JSON.stringify(joinTools([], many)))).toBeLessThan(262_144)
  })
})

describe('withoutSecrets', () => {
  const secrets = ['Bearer sk-0123456789"', 'short']

  it('hides each word of a secret in answers and failures', () => {
    const said = { deep: ['x sk-0123456789" y', 'Bearer sk-0123456789"'], short: 'short' }
    expect(withoutSecrets({ answer: said }, secrets)).toEqual({ answer: { deep: ['x [hidden] y', '[hidden]'], short: 'short' } })
    const failure = { hadNoEffect: true, code: 'TOOL_ERROR', message: 'No sk-0123456789".' } as const
    expect(withoutSecrets({ failure }, secrets)).toEqual({ failure: { ...failure, message: 'No [hidden].' } })
  })

  it('leaves an answer alone where a connector has no secret', () => {
    const end = { answer: { text: 'Bearer' } }
    expect(withoutSecrets(end, ['short'])).toBe(end)
  })
})
