import { expect, test } from 'vitest'
import { readNatsUrl } from '../../carriers/nats-address.ts'

const plain = { servers: ['one:4222'], subject: 'supergraph.events', credsFile: undefined, tls: null }

test.each([
  ['nats://one:4222', plain],
  ['nats://one:4222/', plain],
  ['nats://one', { ...plain, servers: ['one'] }],
  ['nats://one:4222,two:4223,nats://three:4224', { ...plain, servers: ['one:4222', 'two:4223', 'three:4224'] }],
  ['nats://one,tls://two', { ...plain, servers: ['one', 'two'], tls: {} }],
  ['nats://token@one:4222', { ...plain, token: 'token' }],
  ['nats://me:p%40ss@one:4222', { ...plain, user: 'me', pass: 'p@ss' }],
  ['nats://t%2Fk@one:4222,two', { ...plain, servers: ['one:4222', 'two'], token: 't/k' }],
  ['nats://one:4222/shop-2', { ...plain, subject: 'shop-2.events' }],
  ['nats://one:4222/shop/', { ...plain, subject: 'shop.events' }],
  ['nats://token:@one:4222', { ...plain, token: 'token' }],
  ['tls://one:4222', { ...plain, tls: {} }],
  ['nats://one:4222?ca=/ca.pem', { ...plain, tls: { caFile: '/ca.pem' } }],
  [
    'nats://one:4222/shop?creds=/c&cert=/cert.pem&key=/key.pem',
    { ...plain, subject: 'shop.events', credsFile: '/c', tls: { certFile: '/cert.pem', keyFile: '/key.pem' } },
  ],
])('%s is an address of NATS', (url, server) => {
  expect(readNatsUrl(url)).toEqual(server)
})

test.each([
  '',
  'one:4222',
  'http://one:4222',
  ' nats://one',
  'nats://',
  'nats://one:4222/two words',
  'nats://one/a.b',
  'nats://one/a/b',
  'nats://one#a',
  'nats://one,',
  'nats://one,,two',
  'nats://one,http://two',
  'nats://one/a#b',
  'nats://one:port',
  'xnats://one',
])('%j is none', url => {
  expect(() => readNatsUrl(url)).toThrow()
})
