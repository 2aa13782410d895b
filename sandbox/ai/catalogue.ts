/** A model that is played. */
export interface PlayedModel {
  readonly id: string
  readonly does: 'chat' | 'image' | 'transcription' | 'embedding'
  /** Name of the model in answers. */
  readonly snapshot: string
  /** Release date, ISO 8601 date. */
  readonly released: string
}

const model = (id: string, does: PlayedModel['does'], released: string, snapshot = id): PlayedModel => ({ id, does, snapshot, released })

export const openaiModels: readonly PlayedModel[] = [
  model('gpt-5-mini', 'chat', '2025-08-07', 'gpt-5-mini-2025-08-07'),
  model('gpt-5-nano', 'chat', '2025-08-07', 'gpt-5-nano-2025-08-07'),
  model('gpt-3.5-turbo', 'chat', '2023-03-01', 'gpt-3.5-turbo-0125'),
  model('demo-unpriced', 'chat', '2026-01-15'),
  model('gpt-image-1', 'image', '2025-04-23'),
  model('gpt-image-1-mini', 'image', '2025-10-06'),
  model('gpt-4o-mini-transcribe', 'transcription', '2025-03-20'),
  model('whisper-1', 'transcription', '2023-03-01'),
  model('text-embedding-3-small', 'embedding', '2024-01-25'),
]

export const anthropicModels: readonly (PlayedModel & { readonly title: string })[] = [
  { ...model('claude-haiku-4-5', 'chat', '2025-10-15', 'claude-haiku-4-5-20251001'), title: 'Claude Haiku 4.5' },
]
