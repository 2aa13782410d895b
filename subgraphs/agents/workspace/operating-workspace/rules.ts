import { DomainError } from '../../../../platform/errors.ts'

/** The most that a workspace takes. */
export const most = { memories: 1_000, key: 200, text: 10_000, reason: 500 } as const

/** Requires that an organization may have one more memory. @throws CONFLICT */
export function requireRoom(memories: number): void {
  if (memories < most.memories) return
  throw new DomainError('CONFLICT', `The organization has ${memories} memories, which is the limit: delete one first.`)
}
