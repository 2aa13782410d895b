import { describe, expect, it } from 'vitest'
import { limits, readSteps, requireMayWrite, requireRoom, stepAt } from '../../../subgraphs/launcher/launch/workflow/rules.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'

const launch = { kind: 'LAUNCH', title: 'Write', app: 'publishing', returnTo: '/compose' } as const
const item = { kind: 'ACTION', title: 'Approve', actionKind: 'APPROVAL_PENDING' } as const
const link = { kind: 'LINK', title: 'Look', url: 'https://example.test/board' } as const
const refusal = (code: string, more: object = {}) => expect.objectContaining({ extensions: { code, ...more } })

describe('readSteps', () => {
  it('takes a step of each kind, with null for what it does not have', () => {
    expect(readSteps([launch, item, link], false)).toEqual([
      { ...launch, actionKind: null, url: null },
      { ...item, app: null, returnTo: null, url: null },
      { ...link, app: null, returnTo: null, actionKind: null },
    ])
  })

  it.each([
    ['no step', [], 'steps'],
    ['too many steps', Array(limits.steps + 1).fill(link), 'steps'],
    ['a launch without an app', [{ ...launch, app: null }], 'steps.app'],
    ['a launch with an address', [{ ...launch, url: link.url }], 'steps.url'],
    ['a launch that leads to another host', [{ ...launch, returnTo: '//evil.test' }], 'steps.returnTo'],
    ['a launch of something that is no slug', [{ ...launch, app: 'Publishing!' }], 'steps.app'],
    ['an item without a kind', [{ ...item, actionKind: null }], 'steps.actionKind'],
    ['an item of an unwritable kind', [{ ...item, actionKind: 'approval' }], 'steps.actionKind'],
    ['an item with a path', [{ ...item, returnTo: '/' }], 'steps.returnTo'],
    ['a link without an address', [{ ...link, url: null }], 'steps.url'],
    ['a link without TLS', [{ ...link, url: 'http://localhost/' }], 'steps.url'],
    ['a link that runs a script', [{ ...link, url: 'javascript:alert(1)' }], 'steps.url'],
    ['a link of an app', [{ ...link, app: 'publishing' }], 'steps.app'],
    ['a long title', [{ ...link, title: 'x'.repeat(limits.title + 1) }], 'steps.title'],
  ])('refuses %s', (_, steps, field) => {
    expect(() => readSteps(steps as never, false)).toThrow(refusal('BAD_USER_INPUT', { field }))
  })

  it('takes links to this machine without TLS in development alone', () => {
    expect(readSteps([{ ...link, url: 'http://localhost:3000/' }], true)).toHaveLength(1)
    expect(() => readSteps([{ ...link, url: 'http://example.test/' }], true)).toThrow(refusal('BAD_USER_INPUT', { field: 'steps.url' }))
  })
})

describe('requireMayWrite', () => {
  const person: Viewer = { ...anonymous, kind: 'user', userId: 'me', organizationId: 'acme', context: 'organization', scopes: ['launcher:workflows.read'] }
  const manager: Viewer = { ...person, userId: 'other', scopes: ['launcher:workflows.write'] }
  const program: Viewer = { ...anonymous, kind: 'apiKey', organizationId: 'acme', context: 'organization', scopes: ['launcher:workflows.write'] }
  const [own, shared, ofProgram] = [
    { userId: 'me', shared: false },
    { userId: 'me', shared: true },
    { userId: null, shared: true },
  ]

  it.each([
    ['a person their own with the scope to read', person, own, own],
    ['somebody with the scope to write a shared one', manager, shared, shared],
    ['its maker a shared one that becomes private', { ...manager, userId: 'me' }, shared, own],
    ['a key a new shared one', program, null, ofProgram],
  ] as const)('lets %s be written', (_, viewer, before, after) => {
    expect(() => requireMayWrite(viewer, before, after)).not.toThrow()
  })

  it.each([
    ['sharing without the scope to write', person, own, shared, 'FORBIDDEN', {}],
    ['a shared one without the scope to write', person, shared, shared, 'FORBIDDEN', {}],
    ['a shared one of somebody else that becomes private', manager, shared, own, 'FORBIDDEN', {}],
    ['a key with the scope to read', { ...program, scopes: ['launcher:workflows.read'] }, null, ofProgram, 'FORBIDDEN', {}],
    ['a key that keeps one for itself', program, null, { userId: null, shared: false }, 'BAD_USER_INPUT', { field: 'shared' }],
    ['sharing in personal context', { ...manager, organizationId: null, context: 'personal' }, null, shared, 'CONFLICT', { reason: 'CONTEXT' }],
  ] as const)('refuses %s', (_, viewer, before, after, code, more) => {
    expect(() => requireMayWrite(viewer as Viewer, before, after)).toThrow(refusal(code, more))
  })
})

describe('requireRoom', () => {
  it('refuses the workflow after the maximum', () => {
    expect(() => requireRoom(limits.workflows - 1)).not.toThrow()
    expect(() => requireRoom(limits.workflows)).toThrow(refusal('CONFLICT', { reason: 'LIMIT' }))
  })
})

describe('stepAt', () => {
  const steps = readSteps([launch, link], false)

  it('counts from 1, and has no next step after the last one', () => {
    expect([stepAt(steps, 1), stepAt(steps, 2)]).toEqual([
      { step: steps[0], next: 2 },
      { step: steps[1], next: null },
    ])
  })

  it.each([0, 3, -1])('refuses position %i', position => {
    expect(() => stepAt(steps, position)).toThrow(refusal('BAD_USER_INPUT', { field: 'position' }))
  })
})
