import { inTransaction } from '../../store/write.ts'
import type { DemoPart } from './part.ts'

/** Two models of the demo: one that is about to be retired, and one without a price. */
const models = [
  {
    name: 'openai/gpt-3.5-turbo',
    capability: 'CHAT',
    lifecycle: 'DEPRECATED',
    deprecatedAt: '2025-09-01T00:00:00.000Z',
    retiresAt: '2030-06-30T00:00:00.000Z',
    replacement: 'openai/gpt-5-mini',
    contextTokens: 16_385,
    maxOutputTokens: 4_096,
    inputMicrosPerMillion: '500000',
    outputMicrosPerMillion: '1500000',
  },
  { name: 'openai/demo-unpriced', capability: 'CHAT', contextTokens: 16_385, maxOutputTokens: 4_096 },
] as const

export const provideModels: DemoPart = job =>
  inTransaction(job, async ({ transaction, now }) => {
    const made = await job.aiModels.insertMissing(models, { now, by: 'system:demo', configured: true }, transaction)
    if (made.length > 0) await job.modelPreferences.allow('CHAT', made, now, transaction)
    job.models.forget()
  })
