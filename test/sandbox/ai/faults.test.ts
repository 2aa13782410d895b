import { expect, test } from 'vitest'
import { send } from '../stage.ts'
import { aiStage } from './stage.ts'

const vendors = {
  openai: (origin: string, stream: boolean, signal?: AbortSignal) =>
    fetch(`${origin}/openai/v1/chat/completions`, {
      method: 'POST',
      signal: signal ?? AbortSignal.timeout(5_000),
      headers: { authorization: 'Bearer sk-sandbox-x', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-5-mini', stream, messages: [{ role: 'user', content: 'a b c d e f g h' }] }),
    }),
  anthropic: (origin: string, stream: boolean, signal?: AbortSignal) =>
    fetch(`${origin}/anthropic/v1/messages`, {
      method: 'POST',
      signal: signal ?? AbortSignal.timeout(5_000),
      headers: { 'x-api-key': 'sk-sandbox-x', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude-haiku-4-5', max_tokens: 50, stream, messages: [{ role: 'user', content: 'a b c d e f g h' }] }),
    }),
}

const cases = Object.entries(vendors).flatMap(([name, call]) => [true, false].map(stream => ({ name, call, stream })))

test.for(cases)('$name shows each fault, streamed: $stream', async ({ name, call, stream }) => {
  await using stage = await aiStage()
  const ask = (signal?: AbortSignal) => call(stage.origin, stream, signal)
  const type = stream ? 'text/event-stream' : 'application/json'

  await stage.spoil(name, { fault: 'malformed' })
  const malformed = await ask()
  expect([malformed.status, malformed.headers.get('content-type')]).toEqual([200, expect.stringContaining(type)])
  const text = await malformed.text()
  expect(() => JSON.parse(text)).toThrow()
  expect(text).not.toContain('data:')

  await stage.spoil(name, { fault: 'wrong-type' })
  const page = await ask()
  expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
  await page.text()

  await stage.spoil(name, { fault: 'reset-mid-stream' })
  const broken = await ask()
  expect(broken.status).toBe(200)
  let came = ''
  const reading = async () => {
    for await (const part of broken.body!) came += Buffer.from(part).toString()
  }
  await expect(reading()).rejects.toThrow()
  expect(came).toContain(stream ? 'Echo:' : '"id"')
  expect(came).not.toMatch(/\[DONE\]|message_stop/)

  await stage.spoil(name, { fault: 'accept-then-reset' })
  await expect(ask()).rejects.toThrow()

  await stage.spoil(name, { fault: 'status-after-accept', status: 500 })
  expect((await ask()).status).toBe(500)

  await stage.spoil(name, { fault: 'slow', delayMs: 60_000 })
  await expect(ask(AbortSignal.timeout(150))).rejects.toThrow(/timeout/i)
  await stage.spoil(name, { fault: 'timeout-after-accept' })
  await expect(ask(AbortSignal.timeout(150))).rejects.toThrow(/timeout/i)

  await stage.spoil(name, { fault: 'endless' })
  const leaving = new AbortController()
  const endless = await ask(leaving.signal)
  expect(endless.status).toBe(200)
  let pieces = 0
  for await (const part of endless.body!) {
    pieces += part.length > 0 ? 1 : 0
    if (pieces === 30) break
  }
  leaving.abort()

  expect((await ask()).status).toBe(200)
  const requests = (await send(`${stage.origin}/_control/requests?network=${name}`)).body as { outcome: string; fault: string; status: number }[]
  expect(requests.map(({ fault }) => fault)).toEqual([
    'malformed',
    'wrong-type',
    'reset-mid-stream',
    'accept-then-reset',
    'status-after-accept',
    'slow',
    'timeout-after-accept',
    'endless',
  ])
  expect((await stage.taken(name)).length).toBe(9)
})

test('answers 413 above a vendor’s size limit, and accepts a file of 25 MB', async () => {
  await using stage = await aiStage()
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('file', new File([new Uint8Array(25 * 1024 * 1024)], 'long.bin'))
  const post = (body: FormData) =>
    send(`${stage.origin}/openai/v1/audio/transcriptions`, { method: 'POST', headers: { authorization: 'Bearer sk-sandbox-x' }, body })
  expect((await post(form)).status).toBe(200)
  form.set('file', new File([new Uint8Array(34 * 1024 * 1024)], 'too-long.bin'))
  expect((await post(form)).status).toBe(413)
})
