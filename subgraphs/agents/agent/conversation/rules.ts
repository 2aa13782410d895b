import { DomainError } from '../../../../platform/errors.ts'
import type { AgentRow } from '../../stores/agent.ts'

/** How much may be said, in characters and in a day by one caller. */
export const limits = { title: 200, text: 4_000, conversationsADay: 1_000, messagesADay: 10_000 } as const

/** Requires that an agent answers at present. @throws CONFLICT, reason ILLEGAL_MOVE */
export function requireActive({ status: from }: Pick<AgentRow, 'status'>): void {
  if (from === 'ACTIVE') return
  throw new DomainError('CONFLICT', `The agent is ${from}: it answers nobody until it is ACTIVE.`, { reason: 'ILLEGAL_MOVE', from, verb: 'send', possible: [] })
}

/** What the notice of a stopped reply says. @param byPerson whether a person stopped it; a program with a key otherwise */
export const stoppedNotice = (byPerson: boolean): string => `${byPerson ? 'A person' : 'A program'} stopped this reply.`
