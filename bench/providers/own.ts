/**
 * Program with the model gateway before a router, as clients use it: callers are authenticated, candidates are tried.
 * There are no budgets and no log, as at the peer. Argument: the origin of the model.
 */
import { buildSchema } from 'graphql'
import pino from 'pino'
import { Registry } from 'prom-client'
import { systemClock } from '../../platform/clock.ts'
import { createOutbound } from '../../platform/outbound/outbound.ts'
import { aiRows } from '../../router/rest/providers/ai.ts'
import { createRouter } from '../../router/router.ts'
import { answering } from '../../subgraphs/http/handlers.ts'
import { createAttempts } from '../../subgraphs/providers/ai/attempt/attempts.ts'
import { createCooldowns } from '../../subgraphs/providers/ai/attempt/cooldown.ts'
import { createUpstream } from '../../subgraphs/providers/ai/attempt/upstream.ts'
import { createCalls } from '../../subgraphs/providers/ai/call.ts'
import { chatHandler } from '../../subgraphs/providers/ai/chat/handler.ts'
import { openCounter } from '../../subgraphs/providers/ai/counting/counter.ts'
import { createFigures } from '../../subgraphs/providers/ai/figures.ts'
import type { Ai } from '../../subgraphs/providers/engines/models/engine.ts'
import type { Models } from '../../subgraphs/providers/engines/models/in-use.ts'
import type { Calls } from '../../subgraphs/providers/engines/spend/order.ts'
import type { CredentialInUse, CredentialsInUse } from '../../subgraphs/providers/engines/third-party/credentials.ts'
import type { ClientDirectory } from '../../subgraphs/providers/stores/administration/clients.ts'
import { memoryAuthority } from '../../test/door/authority.ts'
import { schemaEngine } from '../../test/door/platform.ts'

const origin = process.argv[2]!
const log = pino({ level: 'silent' })
const clock = systemClock
const name = 'openai/gpt-5-mini'
const model = { name, provider: 'openai', upstream: 'gpt-5-mini', capability: 'CHAT', maxOutputTokens: null, retiresAt: null }
const models = { candidates: async () => ({ first: model, candidates: [model], standing: null }), costOf: () => null, boundOf: () => null } as unknown as Models
const calls = { begin: async () => ({ id: 'bench', allowed: [name], isLimited: false, settle: async () => {} }) } as unknown as Calls
const credential = { id: 'bench', provider: 'openai', level: 'PLATFORM', name: 'bench', baseUrl: null, plain: {}, secrets: ['sk-bench'] }
const credentials: CredentialsInUse = { resolve: async () => credential as unknown as CredentialInUse, note() {}, settled: async () => {} } as never
const clients = { of: async () => null, used() {} } as unknown as ClientDirectory

const { stream } = createOutbound([origin])
const times = { firstByteMs: 60_000, idleMs: 30_000, totalMs: 600_000 }
const addresses = { openai: `${origin}/v1`, anthropic: origin, google: origin, aiGateway: null }
const figures = createFigures(new Registry())
const runAttempts = createAttempts({ clock, credentials, counted: figures.counted })
const cooldowns = createCooldowns()
const ai: Ai = {
  makeCall: createCalls({ models, calls, credentials, runAttempts, cooldowns: () => cooldowns, times, log, admit() {} }),
  upstream: createUpstream({ stream, addresses, times, clock }),
  count: openCounter().count,
  ...{ clock, clients, stream, platformOrganization: { find: async () => null } },
}
const chat = chatHandler(ai, figures)

const publicUrl = 'http://127.0.0.1'
const identity = await memoryAuthority(publicUrl)
const secret = 'sgk_bench'
const scopes = ['providers:ai.invoke'] as const
identity.keys.set(identity.authority.hashKey(secret), {
  keyId: 'bench',
  organizationId: 'bench',
  userId: null,
  scopes,
  rateLimit: 1_000_000_000,
  expiresAt: null,
})
const router = await createRouter({
  engine: schemaEngine(buildSchema('type Query { none: String }')),
  authority: identity.authority,
  subgraphs: [{ registration: { slug: 'providers' }, http: answering({ 'POST /providers/api/ai/chat/completions': chat }) }] as never,
  tables: [{ slug: 'providers', rows: aiRows }],
  host: '127.0.0.1',
  port: 0,
  publicUrl,
  environment: 'production',
  clock,
  log,
  readiness: [],
})
const { port } = await router.listen()
process.send?.({ port, path: '/providers/api/ai/chat/completions', headers: { authorization: `Bearer ${secret}` } })
process.on('disconnect', () => process.exit())
