import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { createAddressOf } from '../../../router/access/address.ts'

/** An upgrade over a connection from one address, with an X-Forwarded-For. */
const upgrade = (remoteAddress: string | undefined, forwarded?: string) =>
  ({ headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }, socket: { remoteAddress } }) as unknown as Pick<
    IncomingMessage,
    'headers' | 'socket'
  >

test.each<[trustProxy: boolean | string, forwarded: string | undefined, address: string]>([
  [false, '7.7.7.7', '10.0.0.1'],
  [false, undefined, '10.0.0.1'],
  [true, '7.7.7.7, 10.0.0.2', '7.7.7.7'],
  [true, '7.7.7.7', '7.7.7.7'],
  [true, undefined, '10.0.0.1'],
  [true, '', '10.0.0.1'],
  ['10.0.0.1', '6.6.6.6, 7.7.7.7', '7.7.7.7'],
  ['10.0.0.0/8,192.168.0.1', '6.6.6.6, 7.7.7.7, 10.0.0.2', '7.7.7.7'],
  ['192.168.0.1', '7.7.7.7', '10.0.0.1'],
])('with TRUST_PROXY %s, who connects from 10.0.0.1 and is forwarded for %s counts for %s', (trustProxy, forwarded, address) => {
  for (const remote of ['10.0.0.1', '::ffff:10.0.0.1', '::FFFF:10.0.0.1']) expect(createAddressOf(trustProxy)(upgrade(remote, forwarded)), remote).toBe(address)
})

test('spaces and gaps in the header are no addresses', () => {
  expect(createAddressOf('10.0.0.0/8')(upgrade('10.0.0.1', '  7.7.7.7 ,, 10.0.0.2 , '))).toBe('7.7.7.7')
  expect(createAddressOf(true)(upgrade('10.0.0.1', ', 7.7.7.7'))).toBe('7.7.7.7')
})

test('a list may have spaces, and names each end of a network and nothing beyond it', () => {
  const addressOf = createAddressOf('192.168.0.1, 10.1.0.0/16 , 2001:db8::1, 2001:db8:5::/48')
  for (const [proxy, trusted] of [
    ['192.168.0.1', true],
    ['192.168.0.2', false],
    ['10.1.0.0', true],
    ['10.1.255.255', true],
    ['10.2.0.0', false],
    ['10.0.255.255', false],
    ['2001:db8::1', true],
    ['2001:db8::2', false],
    ['2001:db8:5:ffff::1', true],
    ['2001:db8:6::1', false],
  ] as const)
    expect(addressOf(upgrade(proxy, '7.7.7.7')), proxy).toBe(trusted ? '7.7.7.7' : proxy)
})

test('an IPv6 address stays as it is, and a forwarded IPv4 address in IPv6 notation becomes IPv4', () => {
  const addressOf = createAddressOf(true)
  expect(addressOf(upgrade('::ffff:1'))).toBe('::ffff:1')
  expect(addressOf(upgrade('2001:db8::ffff:1.2.3.4'))).toBe('2001:db8::ffff:1.2.3.4')
  expect(addressOf(upgrade('10.0.0.1', '::ffff:127.10.0.5'))).toBe('127.10.0.5')
})

test('a closed connection has no address', () => {
  expect(createAddressOf(false)(upgrade(undefined, '7.7.7.7'))).toBe('')
  expect(createAddressOf('10.0.0.1')(upgrade(undefined, '7.7.7.7'))).toBe('')
})

test('an invalid address of a trusted proxy is passed on as text, and trusted by no list', () => {
  for (const odd of ['unknown', '_hidden', '7.7.7.7:80', '10.0.0.0/8']) expect(createAddressOf('10.0.0.0/8')(upgrade('10.0.0.1', `6.6.6.6, ${odd}`))).toBe(odd)
})
