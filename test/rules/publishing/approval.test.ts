import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ApprovalVerb,
  approvalAfter,
  approvalIn,
  approvalMoves,
  judge,
  longestComment,
  readComment,
  requireApproved,
  requireDecides,
} from '../../../subgraphs/publishing/post/approval/rules.ts'
import type { ApprovalMode } from '../../../subgraphs/publishing/stores/brand.ts'
import type { PostApproval, PostStatus } from '../../../subgraphs/publishing/stores/post.ts'
import { key, person } from '../../kit/viewers.ts'
import { refusalOf } from '../refusal.ts'

const states: readonly PostApproval[] = ['NONE', 'PENDING', 'APPROVED', 'CHANGES_REQUESTED', 'REJECTED']
const verbs: readonly ApprovalVerb[] = ['SUBMIT', 'APPROVE', 'REQUEST_CHANGES', 'REJECT', 'HOLD', 'RELEASE']
const modes: readonly ApprovalMode[] = ['NONE', 'OPTIONAL', 'REQUIRED']

/** Every allowed move, written out a second time by hand: state, verb, state. */
const allowed: readonly (readonly [PostApproval, ApprovalVerb, PostApproval])[] = [
  ['NONE', 'SUBMIT', 'PENDING'],
  ['CHANGES_REQUESTED', 'SUBMIT', 'PENDING'],
  ['REJECTED', 'SUBMIT', 'PENDING'],
  ['PENDING', 'APPROVE', 'APPROVED'],
  ['CHANGES_REQUESTED', 'APPROVE', 'APPROVED'],
  ['REJECTED', 'APPROVE', 'APPROVED'],
  ['PENDING', 'REQUEST_CHANGES', 'CHANGES_REQUESTED'],
  ['APPROVED', 'REQUEST_CHANGES', 'CHANGES_REQUESTED'],
  ['PENDING', 'REJECT', 'REJECTED'],
  ['APPROVED', 'REJECT', 'REJECTED'],
  ['CHANGES_REQUESTED', 'REJECT', 'REJECTED'],
]
const post = (approval: PostApproval, status: PostStatus = 'DRAFT', held = false) => ({ approval, status, held, deliveryPhase: 'NONE' as const })

describe('a post’s approval state', () => {
  test('moves by its table only; any other action is CONFLICT with the state, the action and the possible ones', () => {
    for (const approval of states)
      for (const verb of verbs.slice(0, 4)) {
        const next = allowed.find(([from, by]) => from === approval && by === verb)?.[2]
        if (next) expect(judge(post(approval), verb, 'OPTIONAL')).toEqual({ approval: next })
        else {
          const { extensions } = refusalOf(() => judge(post(approval), verb, 'OPTIONAL'))
          const possible = allowed.filter(([from]) => from === approval).map(([, by]) => by)
          expect(extensions).toMatchObject({ code: 'CONFLICT', reason: 'ILLEGAL_MOVE', from: approval, verb })
          expect([...(extensions.possible as string[])].sort()).toEqual([...possible, 'HOLD'].sort())
        }
      }
  })

  test('is blocked and released in any of them, but a published post has no decisions', () => {
    for (const approval of states) {
      expect(judge(post(approval), 'HOLD', 'NONE')).toEqual({ held: true })
      expect(judge(post(approval, 'FAILED', true), 'RELEASE', 'NONE')).toEqual({ held: false })
      for (const verb of verbs)
        expect(refusalOf(() => judge(post(approval, 'PUBLISHED'), verb, 'REQUIRED')).extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', possible: [] })
    }
  })

  test('refuses decisions on a post that is being sent', () => {
    for (const verb of verbs) {
      const refused = refusalOf(() => judge({ ...post('APPROVED', 'SCHEDULED'), deliveryPhase: 'SENDING' }, verb, 'OPTIONAL'))
      expect(refused.extensions).toMatchObject({ code: 'CONFLICT', reason: 'SENDING' })
    }
  })

  test('rejects submission where there are no approvers', () => {
    expect(refusalOf(() => judge(post('NONE'), 'SUBMIT', 'NONE')).extensions).toMatchObject({ code: 'CONFLICT', reason: 'ILLEGAL_MOVE', possible: ['HOLD'] })
  })

  test('allows exactly the actions it lists as possible, in whatever order people act', () => {
    const step = fc.record({ verb: fc.constantFrom(...verbs), mode: fc.constantFrom(...modes) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), steps => {
        let present = post('NONE')
        for (const { verb, mode } of steps) {
          const isPossible = approvalMoves(present, mode).includes(verb)
          const isKept = (verb === 'HOLD' && present.held) || (verb === 'RELEASE' && !present.held)
          if (isPossible || isKept) present = { ...present, ...judge(present, verb, mode) }
          else expect(() => judge(present, verb, mode)).toThrow()
          expect(present.status).toBe('DRAFT')
        }
      }),
    )
  })
})

describe('automatic approval changes', () => {
  const changed = (isScheduled: boolean, isDifferent: boolean) => ({ isScheduled, isDifferent })

  test('a scheduled post waits for a decision where one is required, and a changed approved one wherever there are approvers', () => {
    for (const mode of modes) {
      expect(approvalAfter(post('NONE'), changed(true, true), mode)).toBe(mode === 'REQUIRED' ? 'PENDING' : 'NONE')
      expect(approvalAfter(post('NONE'), changed(false, true), mode)).toBe('NONE')
      expect(approvalAfter(post('APPROVED'), changed(true, true), mode)).toBe(mode === 'NONE' ? 'APPROVED' : 'PENDING')
      expect(approvalAfter(post('APPROVED'), changed(true, false), mode)).toBe('APPROVED')
      for (const approval of ['PENDING', 'CHANGES_REQUESTED', 'REJECTED'] as const)
        for (const isDifferent of [true, false]) expect(approvalAfter(post(approval), changed(true, isDifferent), mode)).toBe(approval)
    }
  })

  test('blocks scheduled posts when a brand begins to require approval, and releases them when it stops', () => {
    expect(approvalIn(post('NONE', 'SCHEDULED'), 'REQUIRED')).toBe('PENDING')
    expect(approvalIn(post('NONE', 'DRAFT'), 'REQUIRED')).toBe('NONE')
    expect(approvalIn(post('PENDING', 'DRAFT'), 'NONE')).toBe('NONE')
    expect(approvalIn(post('REJECTED', 'SCHEDULED'), 'NONE')).toBe('REJECTED')
    for (const approval of states) expect(approvalIn(post(approval, 'SCHEDULED'), 'OPTIONAL')).toBe(approval)
  })

  test('publishes at once only approved posts where approval is required', () => {
    for (const approval of states) {
      if (approval === 'APPROVED') expect(() => requireApproved(post(approval), 'REQUIRED')).not.toThrow()
      else expect(refusalOf(() => requireApproved(post(approval), 'REQUIRED')).extensions).toMatchObject({ code: 'CONFLICT', reason: 'APPROVAL_REQUIRED' })
      for (const mode of ['NONE', 'OPTIONAL'] as const) expect(() => requireApproved(post(approval), mode)).not.toThrow()
    }
  })
})

describe('approvers', () => {
  const brand = { approverIds: ['erin'] }
  const who = (id: string, role: string) => person(id, 'acme', [role])
  const theirs = (authorId: string | null) => ({ authorId })

  test('owners, admins and the brand’s approvers, as persons', () => {
    for (const viewer of [who('ada', 'owner'), who('bob', 'admin'), who('erin', 'member')])
      expect(() => requireDecides(viewer, brand, theirs('mel'))).not.toThrow()
    for (const viewer of [who('mel', 'member'), key('acme', ['publishing:posts.write']), { ...who('ada', 'owner'), clientId: 'app' }])
      expect(refusalOf(() => requireDecides(viewer, brand, theirs('zoe'))).code).toBe('FORBIDDEN')
  })

  test('on a post of their own only owners', () => {
    expect(() => requireDecides(who('ada', 'owner'), brand, theirs('ada'))).not.toThrow()
    for (const viewer of [who('bob', 'admin'), who('erin', 'member')])
      expect(refusalOf(() => requireDecides(viewer, brand, theirs(viewer.userId))).code).toBe('FORBIDDEN')
    expect(() => requireDecides(who('bob', 'admin'), brand, theirs(null))).not.toThrow()
  })

  test('explain why when something has to change, or is declined', () => {
    for (const verb of ['REQUEST_CHANGES', 'REJECT'] as const)
      for (const none of [undefined, null, ' \n'])
        expect(refusalOf(() => readComment(none, verb)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'comment' })
    for (const verb of ['SUBMIT', 'APPROVE', 'HOLD', 'RELEASE'] as const) expect(readComment(' ', verb)).toBe(null)
    expect(readComment(` ${'x'.repeat(longestComment)} `, 'REJECT')).toHaveLength(longestComment)
    expect(refusalOf(() => readComment('x'.repeat(longestComment + 1), 'REJECT')).extensions.field).toBe('comment')
  })
})
