import { expect, test } from 'vitest'
import { isProgram } from '../../../subgraphs/publishing/integration/rules.ts'

const program = { 'user-agent': 'node', accept: '*/*', 'accept-language': '*', 'sec-fetch-mode': 'cors' }

test.each([
  'http://localhost:4000',
  'http://127.0.0.1:4000',
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
  'https://127.0.0.1.example',
])('nothing is on a platform that others reach: %s', publicUrl => expect(isProgram(new Headers(program), publicUrl)).toBe(false))

test.each([
  { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
  { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
  { accept: 'image/avif,image/webp,*/*;q=0.8' },
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
