import Anthropic from '@anthropic-ai/sdk'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { send } from '../stage.ts'
import { aiStage } from './stage.ts'

test('the model gateway checks its own token and forwards calls to both vendors, plain and streamed', async () => {
  await using stage = await aiStage()
  const base = `${stage.origin}/ai-gateway/v1/demo/demo`
  const headers = { 'cf-aig-authorization': 'Bearer aig-sandbox-token' }
  const openai = new OpenAI({ baseURL: `${base}/openai`, apiKey: 'sk-sandbox-a-1111', maxRetries: 0, defaultHeaders: headers })
  const messages = [{ role: 'user' as const, content: 'through two' }]
  expect((await openai.chat.completions.create({ model: 'gpt-5-mini', messages })).choices[0]?.message.content).toBe('Echo: through two')
  const chunks = await Array.fromAsync(await openai.chat.completions.create({ model: 'gpt-5-mini', messages, stream: true }))
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Echo: through two')
  const anthropic = new Anthropic({
    baseURL: `${base}/anthropic`,
    apiKey: 'sk-sandbox-b-2222',
    maxRetries: 0,
    defaultHeaders: { ...headers, 'anthropic-version': '2023-06-01' },
  })
  expect((await anthropic.messages.create({ model: 'claude-haiku-4-5', max_tokens: 50, messages })).content).toMatchObject([{ text: 'Echo: through two' }])
  expect((await stage.taken('openai')).map(({ via, path, stream, keyHint }) => [via, path, stream, keyHint])).toEqual([
    ['ai-gateway', '/v1/chat/completions', false, '1111'],
    ['ai-gateway', '/v1/chat/completions', true, '1111'],
  ])
  expect((await stage.taken('ai-gateway')).length).toBe(3)
  const strange = new OpenAI({ baseURL: `${base}/openai`, apiKey: 'sk-sandbox-a', maxRetries: 0, defaultHeaders: { 'cf-aig-authorization': 'Bearer none' } })
  await expect(strange.models.list()).rejects.toThrow(OpenAI.AuthenticationError)
  await stage.spoil('ai-gateway', { fault: 'status', status: 503 })
  await expect(openai.chat.completions.create({ model: 'gpt-5-mini', messages })).rejects.toMatchObject({ status: 503 })
  expect((await stage.taken('openai')).length).toBe(2)
})

test('the open catalogue is one document, with prices, limits and an announced retirement; reads use up its faults', async () => {
  await using stage = await aiStage()
  const read = () => send(`${stage.origin}/models-dev/api.json`)
  const { body } = await read()
  expect(body.openai.models['gpt-5-mini']).toMatchObject({ cost: { input: 0.25, output: 2 }, limit: { context: 400_000, output: 128_000 } })
  expect(body.openai.models['gpt-3.5-turbo']).toMatchObject({ status: 'deprecated', retirement_date: '2030-06-30', replacement: 'gpt-5-mini' })
  expect(Object.keys(body.openai.models)).not.toContain('demo-unpriced')
  await stage.spoil('models-dev', { fault: 'status', status: 500 })
  expect((await read()).status).toBe(500)
  await stage.spoil('models-dev', { fault: 'malformed' })
  await expect(read()).rejects.toThrow(SyntaxError)
  expect((await read()).status).toBe(200)
  const requests = (await send(`${stage.origin}/_control/requests?network=models-dev`)).body
  expect(requests.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['read', 'faulted', 'faulted', 'read'])
})

test('the studio signs tokens that its published key verifies, and reports mistakes', async () => {
  await using stage = await aiStage()
  const person = { network: 'studio', userId: 'a person', organizationId: 'an organization' }
  const { token } = (await stage.tell('tokens', { ...person, audience: 'app_providers', expiresInSeconds: 300 })).body
  const keys = createRemoteJWKSet(new URL(`${stage.origin}/studio/.well-known/jwks.json`))
  const currentDate = stage.clock.now()
  const proved = await jwtVerify(token, keys, { issuer: `${stage.origin}/studio`, audience: 'app_providers', algorithms: ['EdDSA'], currentDate })
  expect(proved.payload).toMatchObject({ sub: 'a person', org: 'an organization', exp: currentDate.getTime() / 1000 + 300 })
  expect((await send(`${stage.origin}/studio/.well-known/jwks.json`)).body.keys[0].d).toBeUndefined()
  const late = (await stage.tell('tokens', { ...person, expiresInSeconds: -5 })).body.token
  await expect(jwtVerify(late, keys, { currentDate })).rejects.toThrow(/exp/)
  expect((await stage.tell('tokens', { ...person, userId: 5 })).body).toEqual({ error: 'userId is not a text.' })
  expect(await stage.tell('tokens', { network: 'openai' })).toMatchObject({ status: 400, body: { error: expect.stringContaining('studio') } })
})
