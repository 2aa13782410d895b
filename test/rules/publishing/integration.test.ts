import { expect, test } from 'vitest'
import { callbackUrl, connectable, isProgram } from '../../../subgraphs/publishing/connection/integration/rules.ts'
import type { Network, Platform } from '../../../subgraphs/publishing/network/network.ts'
import { everyNetwork } from '../../../subgraphs/publishing/network/networks.ts'
import { refusalOf } from '../refusal.ts'

const platforms = Object.keys(everyNetwork) as Platform[]

test('a network that is set up is connected by its adapter', () => {
  const x = { platform: 'X' } as Network
  expect(connectable(new Map([['X', x]]), 'X')).toBe(x)
})

test.each(platforms)('%s is not connected without an adapter, and the refusal says whether an operator can help', platform => {
  const others = new Map(platforms.filter(other => other !== platform).map(other => [other, { platform: other } as Network]))
  const { extensions, message } = refusalOf(() => connectable(others, platform))
  expect(extensions).toEqual({ code: 'CONFLICT', platform })
  expect(message).toContain(everyNetwork[platform].title)
  expect(/operate|credentials/.test(message)).toBe(everyNetwork[platform].protocol !== null)
  expect(/protocol/.test(message)).toBe(everyNetwork[platform].protocol === null)
})

test.each(platforms)('%s sends people back to an address of its own, which is entered at the network once and stays', platform => {
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
