import { expect, test } from 'vitest'
import { attentionOf, type Connected, standingOf } from '../../../subgraphs/publishing/connection/integration/readiness.ts'
import { callbackUrl, connectable, isProgram } from '../../../subgraphs/publishing/connection/integration/rules.ts'
import type { Application, Network, Platform } from '../../../subgraphs/publishing/network/network.ts'
import { everyNetwork } from '../../../subgraphs/publishing/network/networks.ts'
import { refusalOf } from '../refusal.ts'

const platforms = Object.keys(everyNetwork) as Platform[]

const application = (more: object = {}) => ({ clientId: 'id', clientSecret: 'secret', apiUrl: 'https://api.x.com', ...more }) as Application
const spoken = platforms.filter(platform => everyNetwork[platform].protocol)
const [first] = spoken as [Platform]
const atHome = { apiUrl: 'http://localhost:4100/x' }
const onceReady = { active: true, metadata: { readiness: 'PRODUCTION_READY' } }
const onceTried = { active: true, metadata: { readiness: 'SANDBOX_ONLY' } }

test.each([
  // application, connections, where, readiness, connectable
  ['none', null, [], 'development', 'SETUP_REQUIRED', false],
  ['none, and an inactive connection', null, [{ ...onceReady, active: false }], 'development', 'SETUP_REQUIRED', false],
  ['none any more, and connected', null, [onceReady], 'production', 'PRODUCTION_READY', false],
  ['none any more, and connected for trying', null, [onceTried], 'staging', 'SANDBOX_ONLY', false],
  ['one for trying', application({ kind: 'TRIAL' }), [], 'staging', 'SANDBOX_ONLY', true],
  ['one for trying, in production', application({ kind: 'TRIAL' }), [onceTried], 'production', 'SANDBOX_ONLY', false],
  ['one at a network that is played', application(atHome), [], 'development', 'SANDBOX_ONLY', true],
  ['one at a network that is played, in production', application(atHome), [], 'production', 'SANDBOX_ONLY', false],
  ['one', application(), [], 'development', 'PRODUCTION_READY', true],
  ['one, in production', application(), [onceTried], 'production', 'PRODUCTION_READY', true],
] as const)('how far a network is set up with this application: %s', (_, its, connections, environment, readiness, connectable_) => {
  const standing = standingOf(first, { application: its }, connections, environment)
  expect([standing.readiness, standing.connectable]).toEqual([readiness, connectable_])
  expect(standing.reason === null).toBe(connectable_)
})

test.each([
  ['its application, when that is one for trying', application({ kind: 'TRIAL' }), /is a trial application/],
  ['its addresses, when those are on this machine', application(atHome), /addresses lie on this machine/],
  ['its application, when both are', application({ ...atHome, kind: 'TRIAL' }), /is a trial application/],
])('production names why a network cannot be connected: %s', (_, its, why) => {
  expect(standingOf(first, { application: its }, [], 'production').reason).toMatch(why)
})

test.each(platforms)('%s is refused with the why, and neither a setting nor an address, where it cannot be connected', platform => {
  const none = { application: null, network: null, isKnown: true }
  const { extensions, message } = refusalOf(() => connectable(none, platform, { environment: 'development' }))
  expect(extensions).toEqual({ code: 'CONFLICT', reason: 'NOT_CONNECTABLE', platform })
  expect(message).toContain(everyNetwork[platform].title)
  expect(message).toMatch(everyNetwork[platform].protocol ? /operator/ : /protocol/)
  expect(message).not.toMatch(/https?:|[A-Z]_[A-Z]/)
})

test('a network whose setup is unknown is rejected as temporarily unavailable, without attention', () => {
  const unknown = { application: null, network: null, isKnown: false }
  const { extensions, message } = refusalOf(() => connectable(unknown, first, { environment: 'production' }))
  expect(extensions).toEqual({ code: 'UPSTREAM_FAILED', retryAfter: 5, platform: first })
  expect(message).toMatch(/cannot be found out at this moment/)
  expect(standingOf(first, unknown, [onceReady], 'production')).toMatchObject({ readiness: 'PRODUCTION_READY', connectable: false })
})

test('names the next step: for the operator first, then for a person who can mend the connection', () => {
  const connection = (health: Connected['health'], active = true): Connected => ({ active, health, accountName: '@demo', metadata: {} })
  expect(attentionOf('X', true, [connection('HEALTHY')])).toBe(null)
  expect(attentionOf('X', false, [])).toBe(null)
  expect(attentionOf('X', false, [connection('EXPIRING')])).toMatch(/operator/)
  expect(attentionOf('X', true, [connection('EXPIRING'), connection('NEEDS_RECONNECT', false)])).toMatch(/not connected any more/)
  expect(attentionOf('FACEBOOK', true, [connection('NEEDS_SELECTION')])).toMatch(/choose where posts go/)
  expect(attentionOf('X', true, [connection('EXPIRING')])).toMatch(/ends soon/)
})

test('a network is connected by its own adapter', () => {
  const network = { platform: first } as Network
  expect(connectable({ application: application(), network }, first, { environment: 'production' }).network).toBe(network)
})

test.each(platforms)('%s redirects to its own callback address, which is registered at the network once and stays', platform => {
  const path = platform.toLowerCase().replace('_', '-')
  expect(callbackUrl('https://platform.example', platform)).toBe(`https://platform.example/publishing/api/integrations/${path}/callback`)
})

const program = { 'user-agent': 'node', accept: '*/*', 'accept-language': '*', 'sec-fetch-mode': 'cors' }

test.each([
  'http://localhost:4000',
  'http://127.0.0.1:4000',
  'http://127.10.20.30',
  'http://[::1]:4000',
  'https://platform.localhost',
])('a script on the developer’s own machine is a program: %s', publicUrl => {
  expect(isProgram(new Headers(program), publicUrl)).toBe(true)
  expect(isProgram(new Headers(), publicUrl)).toBe(true)
})

test.each([
  'https://platform.example',
  'http://localhost.example',
  'http://10.0.0.7:4000',
  'http://[::2]:4000',
  'http://notlocalhost',
  'https://127.0.0.1.example',
])('nothing is on a platform that others reach: %s', publicUrl => expect(isProgram(new Headers(program), publicUrl)).toBe(false))

test.each([
  { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
  { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
  { accept: 'application/xhtml+xml' },
  { accept: 'image/avif,image/webp,*/*;q=0.8' },
  { 'user-agent': 'mozilla/4.0' },
  { cookie: 'a=b' },
  { origin: 'https://foreign.example' },
  { origin: 'null' },
  { referer: 'https://x.com/' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-dest': 'image' },
  { 'sec-fetch-user': '?1' },
  { 'sec-ch-ua': '"Chromium"' },
  { 'upgrade-insecure-requests': '1' },
] as Record<string, string>[])('a single mark of a browser makes it one: %j', mark => {
  expect(isProgram(new Headers({ ...program, ...mark }), 'http://localhost:4000')).toBe(false)
})
