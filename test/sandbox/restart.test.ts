import { spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { playedNames } from '../../sandbox/networks.ts'
import { startSandbox } from '../../sandbox/server.ts'
import { openState } from '../../sandbox/state.ts'
import { send } from './stage.ts'

const callback = 'http://localhost:4000/callback'

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** `sandbox/main.ts` as its own process; resolves with the origin that it prints. */
async function spawnSandbox(folder: string) {
  const child = spawn(process.execPath, ['sandbox/main.ts', '--folder', folder, '--port', '0', '--redirect-uri', callback], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise<{ code: number | null; signal: string | null }>(resolve => child.once('exit', (code, signal) => resolve({ code, signal })))
  const origin = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (line: Buffer) => resolve(line.toString().trim()))
    ended.then(end => reject(new Error(`the sandbox ended with ${JSON.stringify(end)}`)))
  })
  return { origin, child, ended }
}

const bearer = (token: string, body?: object): RequestInit => ({
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  ...(body && { method: 'POST', body: JSON.stringify(body) }),
})

test('a killed sandbox has forgotten nothing it answered for: post, grant, credentials, armed fault, used rate limit', async () => {
  const folder = temporaryFolder()
  const before = await startSandbox({ folder, port: 0, redirectUris: [callback] })
  const { clientId, clientSecret, account, grant } = before.demo.x
  const { accessToken, refreshToken } = await grant(clientId)
  await before.stop()

  const first = await spawnSandbox(folder)
  expect(first.origin).toMatch(/^http:\/\/localhost:\d+$/)
  const published = await send(`${first.origin}/x/2/tweets`, bearer(accessToken, { text: 'written before the answer' }))
  expect(published.status).toBe(201)
  await send(`${first.origin}/_control/faults`, bearer('', { network: 'x', fault: 'status', status: 500, times: 1 }))
  first.child.kill('SIGKILL')
  expect(await first.ended).toMatchObject({ signal: 'SIGKILL' })

  const second = await spawnSandbox(folder)
  expect((await send(`${second.origin}/_control/received?network=x`)).body).toMatchObject([{ text: 'written before the answer', id: published.body.data.id }])
  expect((await send(`${second.origin}/x/2/tweets`, bearer(accessToken, { text: 'next' }))).status).toBe(500)
  const next = await send(`${second.origin}/x/2/tweets`, bearer(accessToken, { text: 'next' }))
  expect([next.status, next.headers.get('x-rate-limit-remaining')]).toEqual([201, '98'])
  expect(BigInt(next.body.data.id)).toBeGreaterThan(BigInt(published.body.data.id))
  const demo = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8'))
  expect(demo).toMatchObject({ origin: second.origin, x: { clientId, clientSecret, account } })
  expect(Object.keys(demo).sort()).toEqual(['endpoints', 'origin', ...playedNames].sort())
  const refreshed = await send(`${second.origin}/x/2/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken }),
  })
  expect(refreshed.status).toBe(200)

  second.child.kill('SIGTERM')
  expect(await second.ended).toEqual({ code: 0, signal: null })
})

test('the process rejects a start without folder or port in one line and its usage', async () => {
  const child = spawn(process.execPath, ['sandbox/main.ts', '--port', 'x'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (piece: Buffer) => {
    said += piece.toString()
  })
  expect(await new Promise(resolve => child.once('close', resolve))).toBe(1)
  expect(said.trim().split('\n')).toHaveLength(2)
})

test('rejects an occupied port and leaves nothing running', async () => {
  const holder = await startSandbox({ folder: temporaryFolder(), port: 0 })
  await expect(startSandbox({ folder: temporaryFolder(), port: holder.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await holder.stop()
})

test('both loopback families answer under one port', async () => {
  const sandbox = await startSandbox({ folder: temporaryFolder(), port: 0 })
  onTestFinished(() => sandbox.stop())
  for (const host of ['127.0.0.1', '[::1]', 'localhost']) expect((await send(`http://${host}:${sandbox.port}/_control/faults`)).status).toBe(200)
})

test('a line that was cut by a kill is dropped, and writing continues after it', () => {
  const folder = temporaryFolder()
  const state = openState(folder)
  state.collection<number>('numbers', 10).set('one', 1)
  state.commit()
  state.close()
  appendFileSync(join(folder, 'state.ndjson'), '[["numbers","tw')
  const again = openState(folder)
  again.collection<number>('numbers', 10).set('three', 3)
  again.commit()
  again.close()
  const last = openState(folder)
  expect([...last.collection<number>('numbers', 10).values()]).toEqual([1, 3])
  last.close()
})

test('a collection forgets its oldest value past its bound, and the file is rewritten before it grows for ever', () => {
  const folder = temporaryFolder()
  const state = openState(folder)
  const values = state.collection<string>('values', 3)
  for (let number = 0; number < 3000; number += 1) {
    values.set(String(number), 'x'.repeat(1000))
    state.commit()
  }
  expect(values.size).toBe(3)
  state.close()
  expect(statSync(join(folder, 'state.ndjson')).size).toBeLessThan(1_100_000)
  const again = openState(folder)
  expect(again.collection<string>('values', 3).get('2999')).toBeDefined()
  expect(again.collection<string>('values', 3).get('2996')).toBeUndefined()
  again.close()
})
