import { spoilt } from '../faults.ts'
import type { Network, Reply, Vendor } from '../network.ts'
import { json } from '../network.ts'

interface Listed {
  readonly id: string
  readonly name: string
  readonly release: string
  readonly input: readonly string[]
  readonly output: readonly string[]
  /** Prices in US dollars per million tokens. */
  readonly cost?: { readonly input: number; readonly output: number; readonly cache_read?: number; readonly cache_write?: number }
  readonly limit: { readonly context: number; readonly output: number }
  readonly end?: { readonly status: 'deprecated'; readonly deprecation_date: string; readonly retirement_date: string; readonly replacement: string }
}

const text = ['text']
const listed: Readonly<Record<string, readonly Listed[]>> = {
  openai: [
    {
      id: 'gpt-5-mini',
      name: 'GPT-5 Mini',
      release: '2025-08-07',
      input: ['text', 'image'],
      output: text,
      cost: { input: 0.25, output: 2, cache_read: 0.025 },
      limit: { context: 400_000, output: 128_000 },
    },
    {
      id: 'gpt-5-nano',
      name: 'GPT-5 Nano',
      release: '2025-08-07',
      input: ['text', 'image'],
      output: text,
      cost: { input: 0.05, output: 0.4, cache_read: 0.005 },
      limit: { context: 400_000, output: 128_000 },
    },
    {
      id: 'gpt-3.5-turbo',
      name: 'GPT-3.5-turbo',
      release: '2023-03-01',
      input: text,
      output: text,
      cost: { input: 0.5, output: 1.5 },
      limit: { context: 16_385, output: 4_096 },
      end: { status: 'deprecated', deprecation_date: '2025-09-01', retirement_date: '2030-06-30', replacement: 'gpt-5-mini' },
    },
    {
      id: 'text-embedding-3-small',
      name: 'text-embedding-3-small',
      release: '2024-01-25',
      input: text,
      output: text,
      cost: { input: 0.02, output: 0 },
      limit: { context: 8_191, output: 1_536 },
    },
  ],
  anthropic: [
    {
      id: 'claude-haiku-4-5',
      name: 'Claude Haiku 4.5',
      release: '2025-10-15',
      input: ['text', 'image', 'pdf'],
      output: text,
      cost: { input: 1, output: 5, cache_read: 0.1, cache_write: 1.25 },
      limit: { context: 200_000, output: 64_000 },
    },
  ],
  // One of the many providers that the platform does not support.
  elsewhere: [
    { id: 'large', name: 'Large', release: '2025-01-01', input: text, output: text, cost: { input: 3, output: 9 }, limit: { context: 128_000, output: 8_192 } },
  ],
}

const document = Object.fromEntries(
  Object.entries(listed).map(([provider, models]) => [
    provider,
    {
      id: provider,
      name: provider,
      env: [`${provider.toUpperCase()}_API_KEY`],
      doc: `https://${provider}.example/docs/models`,
      models: Object.fromEntries(
        models.map(({ release, input, output, end, ...model }) => [
          model.id,
          {
            ...model,
            attachment: input.length > 1,
            reasoning: false,
            tool_call: true,
            release_date: release,
            last_updated: release,
            modalities: { input, output },
            open_weights: false,
            ...end,
          },
        ]),
      ),
    },
  ]),
)

/**
 * Stand-in for the open catalogue of models (https://models.dev): it serves one document, and each read uses up an
 * armed fault.
 */
export const modelsDev: Vendor = {
  title: 'models.dev',
  play: (name, { faults }): Network => ({
    name,
    received: () => [],
    answer(call) {
      if (call.path !== '/api.json' || call.method !== 'GET') return refuse(404)
      return spoilt(faults, name, { refuse: ({ status }) => refuse(status), take: () => json(200, document, 'read') })
    },
  }),
}

const refuse = (status: number): Reply => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: `${status}\n`,
  outcome: 'refused',
  reason: String(status),
})
