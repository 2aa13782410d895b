import { expect, it } from 'vitest'
import { pastOf } from '../../../subgraphs/agents/engines/talk/past.ts'
import { type ConversationMessageRow, stoppedCode } from '../../../subgraphs/agents/stores/talk/message.ts'

type Said = Parameters<typeof pastOf>[0]

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms)
const user = (id: string, ms: number): Said => ({
  id,
  role: 'USER',
  text: `Asks ${id}.`,
  status: 'COMPLETE',
  failureCode: null,
  answersId: null,
  createdAt: at(ms),
})
const agent = (id: string, answersId: string | null, ms: number, status: ConversationMessageRow['status'] = 'COMPLETE', text = `Says ${id}.`): Said => ({
  ...{ id, role: 'AGENT', text, status, failureCode: status === 'FAILED' ? 'UPSTREAM_FAILED' : null, answersId, createdAt: at(ms) },
})
const told = (said: Said, around: readonly Said[]) => pastOf(said, around).map(({ role, content }) => `${role} ${content}`)

it('tells each message of a person with its reply behind it, although several were sent at once', () => {
  const said = user('c', 5)
  const around = [user('a', 0), user('b', 0), agent('ra', 'a', 1), agent('rb', 'b', 1), said, user('d', 5), agent('rc', 'c', 6, 'STREAMING', '')]
  expect(told(said, around)).toEqual(['USER Asks a.', 'ASSISTANT Says ra.', 'USER Asks b.', 'ASSISTANT Says rb.'])
})

it('says of a reply that is not whole that nothing is to be done about its message', () => {
  const said = user('d', 5)
  const around = [
    ...[user('a', 0), agent('ra', 'a', 1, 'FAILED', 'Calling it.'), user('b', 2), agent('rb', 'b', 3, 'STREAMING', 'Half'), user('c', 5)],
    ...[said, agent('rc', 'c', 6, 'STREAMING', '')],
  ]
  const [, cut, , half, , present] = told(said, around)
  expect(cut).toMatch(/^ASSISTANT Calling it\.\n\n\(This reply was cut off/)
  expect(half).toBe(present)
  expect(half).toMatch(/^ASSISTANT \(This message is answered elsewhere/)
})

it('says of a reply that a person stopped what it had said, and that nothing is to be done about its message', () => {
  const around = [
    ...[user('a', 0), { ...agent('ra', 'a', 1, 'COMPLETE', 'Calling it.'), failureCode: stoppedCode }],
    ...[user('b', 2), { ...agent('rb', 'b', 3, 'COMPLETE', ''), failureCode: stoppedCode }, user('c', 4)],
  ]
  const [, cut, , empty] = told(around[4]!, around)
  expect(cut).toMatch(/^ASSISTANT Calling it\.\n\n\(A person stopped this reply/)
  expect(empty).toMatch(/^ASSISTANT \(A person stopped this reply/)
})

it('reads conversations of earlier versions in their order', () => {
  const around = [user('a', 0), agent('ra', null, 1), user('b', 2), agent('rb', null, 3, 'FAILED', ''), user('c', 4)]
  expect(told(around[4]!, around)).toEqual(['USER Asks a.', 'ASSISTANT Says ra.', 'USER Asks b.', expect.stringContaining('cut off')])
})

it('ends with the last twenty, and begins with a question', () => {
  const around = Array.from({ length: 30 }, (_, pair) => [user(`u${pair}`, 2 * pair), agent(`r${pair}`, `u${pair}`, 2 * pair + 1)]).flat()
  const said = user('z', 100)
  const past = told(said, [...around, said])
  expect([past.length, past[0], past.at(-1)]).toEqual([20, 'USER Asks u20.', 'ASSISTANT Says r29.'])
})
