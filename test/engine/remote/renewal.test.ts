import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRenewal } from '../../../router/apart/renewal.ts'
import { sealHeader } from '../../../subgraphs/seal.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A socket of which only what was sent is of interest. */
const open = () => {
  const sent: unknown[] = []
  const socket = { OPEN: 1 as const, readyState: 1 as 1 | 3, send: (text: string) => void sent.push(JSON.parse(text)) }
  return { socket, sent, renewal: createRenewal(socket as never) }
}
const ping = { type: 'ping', payload: { [sealHeader]: null } }

test('one ping requests a seal for all current callers, the next one for later callers', async () => {
  const { sent, renewal } = open()
  const both = [renewal.ask(), renewal.ask()]
  for (const other of [undefined, null, 'x', { other: 1 }]) renewal.heard(other)
  renewal.heard({ [sealHeader]: 'first' })
  expect(await Promise.all(both)).toEqual(['first', 'first'])
  expect(sent).toEqual([ping])
  renewal.heard({ [sealHeader]: 'that nobody asked for' })
  const next = renewal.ask()
  renewal.heard({ [sealHeader]: 'second' })
  expect(await next).toBe('second')
  expect(sent).toEqual([ping, ping])
  expect(vi.getTimerCount()).toBe(0)
})

test('a caller that gets no seal in time, or whose socket ends, gets an error; the next seal is requested again', async () => {
  const { socket, sent, renewal } = open()
  const late = expect(renewal.ask()).rejects.toThrow('no answer within 5000 ms')
  await vi.advanceTimersByTimeAsync(5000)
  await late
  const ended = expect(renewal.ask()).rejects.toThrow('it is gone')
  renewal.end()
  await ended
  socket.readyState = 3
  await expect(renewal.ask()).rejects.toThrow('it is gone')
  expect(sent).toHaveLength(2)
  expect(vi.getTimerCount()).toBe(0)
})
