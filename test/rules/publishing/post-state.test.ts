import { describe, expect, test } from 'vitest'
import { move, movesFrom, type PostVerb, transitions } from '../../../subgraphs/publishing/post/rules.ts'
import type { DeliveryPhase, PostStatus } from '../../../subgraphs/publishing/stores/post.ts'
import { refusalOf } from '../refusal.ts'

const states: readonly PostStatus[] = ['DRAFT', 'SCHEDULED', 'PUBLISHED', 'FAILED']
const verbs: readonly PostVerb[] = ['schedule', 'publish', 'edit', 'revert', 'cancel', 'delete', 'succeed', 'fail']
const byPeople: readonly PostVerb[] = ['schedule', 'publish', 'edit', 'revert', 'cancel', 'delete']

/** Every allowed move, written out a second time by hand: state, verb, state. */
const allowed: readonly (readonly [PostStatus, PostVerb, PostStatus])[] = [
  ['DRAFT', 'schedule', 'SCHEDULED'],
  ['DRAFT', 'publish', 'SCHEDULED'],
  ['DRAFT', 'edit', 'DRAFT'],
  ['DRAFT', 'revert', 'DRAFT'],
  ['DRAFT', 'delete', 'DRAFT'],
  ['SCHEDULED', 'schedule', 'SCHEDULED'],
  ['SCHEDULED', 'publish', 'SCHEDULED'],
  ['SCHEDULED', 'cancel', 'DRAFT'],
  ['SCHEDULED', 'edit', 'SCHEDULED'],
  ['SCHEDULED', 'revert', 'DRAFT'],
  ['SCHEDULED', 'delete', 'SCHEDULED'],
  ['SCHEDULED', 'succeed', 'PUBLISHED'],
  ['SCHEDULED', 'fail', 'FAILED'],
  ['FAILED', 'schedule', 'SCHEDULED'],
  ['FAILED', 'publish', 'SCHEDULED'],
  ['FAILED', 'edit', 'FAILED'],
  ['FAILED', 'revert', 'DRAFT'],
  ['FAILED', 'delete', 'FAILED'],
  ['FAILED', 'succeed', 'PUBLISHED'],
  ['FAILED', 'fail', 'FAILED'],
]
/** How a sentence says what could not be done: `cannot be edited`. */
const inWords: Record<PostVerb, RegExp> = {
  schedule: /cannot be schedul/,
  edit: /cannot be edit/,
  revert: /cannot be revert/,
  cancel: /cannot be cancel/,
  publish: /cannot be publish/,
  delete: /cannot be delet/,
  succeed: /cannot be publish/,
  fail: /cannot be fail/,
}
const others = states.flatMap(status =>
  verbs.filter(verb => !allowed.some(([from, by]) => from === status && by === verb)).map(verb => [status, verb] as const),
)

describe('P-03 the state of a post', () => {
  test('is draft, scheduled, published or failed, and nothing else', () => {
    expect(Object.keys(transitions).sort()).toEqual([...states].sort())
    expect(allowed.length + others.length).toBe(states.length * verbs.length)
  })

  test.each(allowed)('%s, %s: %s', (status, verb, next) => {
    expect(move({ status, deliveryPhase: 'NONE' }, verb)).toBe(next)
  })

  test.each(others)('%s, %s: CONFLICT that names the state, the verb and the possible ones', (status, verb) => {
    const { code, message, extensions } = refusalOf(() => move({ status, deliveryPhase: 'NONE' }, verb))
    expect(code).toBe('CONFLICT')
    expect(message).toContain(status)
    expect(message).toMatch(inWords[verb])
    const possible = movesFrom(status).filter(other => byPeople.includes(other))
    expect(extensions).toMatchObject({ from: status, verb, possible })
    for (const other of possible) expect(message).toContain(other)
  })

  test('every state can be reached from a draft', () => {
    const reached = new Set<PostStatus>(['DRAFT'])
    for (const status of reached) for (const verb of movesFrom(status)) reached.add(move({ status, deliveryPhase: 'NONE' }, verb))
    expect([...reached].sort()).toEqual([...states].sort())
  })

  test.each(
    (['SCHEDULED', 'FAILED'] as const).flatMap(status =>
      (['SENDING', 'UNKNOWN'] as const).flatMap(phase => byPeople.map(verb => [status, phase, verb] as const)),
    ),
  )('%s and %s: nobody can %s it', (status, deliveryPhase: DeliveryPhase, verb) => {
    const { message, extensions } = refusalOf(() => move({ status, deliveryPhase }, verb))
    expect(extensions).toEqual({ code: 'CONFLICT', reason: deliveryPhase === 'SENDING' ? 'SENDING' : 'OUTCOME_UNKNOWN', status, deliveryPhase })
    expect(message).toMatch(inWords[verb])
  })

  test('a claim alone does not prevent changes', () => {
    for (const verb of byPeople) expect(() => move({ status: 'SCHEDULED', deliveryPhase: 'CLAIMED' }, verb)).not.toThrow()
  })

  test('an unknown outcome can still end as published or failed', () => {
    expect([move({ status: 'FAILED', deliveryPhase: 'UNKNOWN' }, 'succeed'), move({ status: 'SCHEDULED', deliveryPhase: 'SENDING' }, 'fail')]).toEqual([
      'PUBLISHED',
      'FAILED',
    ])
  })
})
